package learning

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gocv.io/x/gocv"

	"driftscope/ingest/picture"
)

// compress stores the film as 8-bit JPEG pictures of quality amount.
func compress(o defect, _ *rand.Rand) effect {
	return func(p *levels, _ int) error {
		if err := picture.CheckSize(p.width, p.height, p.channels); err != nil {
			return err
		}
		if p.channels != 1 && p.channels != 3 {
			return fmt.Errorf("a picture of %d channels, 1 or 3 expected: convert it", p.channels)
		}
		kept, err := p.encode(int(o.Amount))
		if err != nil {
			return err
		}
		seen, err := picture.Decode(kept)
		if err != nil {
			return err
		}
		defer seen.Close()
		pixels, err := seen.DataPtrUint8()
		if err != nil || len(pixels) != len(p.values) {
			return fmt.Errorf("OpenCV gave %d values for a picture of %d: free memory", len(pixels), len(p.values))
		}
		for i, v := range pixels {
			p.values[i] = float64(v) * (p.top / math.MaxUint8) // by 1 or 257, without rounding
		}
		return nil
	}
}

// encode returns the picture as a JPEG; the caller has checked size and channels.
func (p *levels) encode(quality int) ([]byte, error) {
	kind := gocv.MatTypeCV8UC1
	if p.channels == 3 {
		kind = gocv.MatTypeCV8UC3
	}
	m := gocv.NewMatWithSize(p.height, p.width, kind)
	defer m.Close()
	pixels, err := m.DataPtrUint8()
	if err != nil || len(pixels) != len(p.values) {
		return nil, fmt.Errorf("OpenCV gave %d bytes for a picture of %d: free memory", len(pixels), len(p.values))
	}
	for i, v := range p.values {
		pixels[i] = uint8(v * math.MaxUint8 / p.top)
	}
	file, err := gocv.IMEncodeWithParams(gocv.JPEGFileExt, m, []int{gocv.IMWriteJpegQuality, quality})
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return append([]byte(nil), file.GetBytes()...), nil
}
