package preprocess

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"slices"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// defectsOptions are the keys under defects, written by pretrain.
type defectsOptions struct {
	Width  int      `yaml:"width"` // width of the frames, pixels
	Height int      `yaml:"height"`
	Pixels []string `yaml:"pixels" reaches:"nothing"` // indices, row by row from the top, ascending: defectsLine little-endian uint32 per line, in base64
}

const (
	MaxDefects  = 1 << 14 // largest number of replaced pixels
	defectsLine = 128     // indices per line of a configuration, which has at most 1024 bytes
)

// defects replaces the camera's defective pixels, hot or dead, by the median of their neighbours.
type defects struct {
	width, height int
	pixels        []int
	around        [][]int // indices of the intact neighbours of each defective pixel
}

func newDefects(decode func(dst any) error) (pipeline.Step, error) {
	var o defectsOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Width < 1 || o.Width > MaxSide || o.Height < 1 || o.Height > MaxSide {
		return nil, fmt.Errorf("width, height: found %dx%d, expected 1 to %d pixels each: give the frames' own size", o.Width, o.Height, MaxSide)
	}
	d := &defects{width: o.Width, height: o.Height}
	if len(o.Pixels) == 0 || len(o.Pixels) > MaxDefects/defectsLine {
		return nil, fmt.Errorf("pixels: found %d lines, expected 1 to %d: only pretrain writes this step", len(o.Pixels), MaxDefects/defectsLine)
	}
	var data []byte
	for i, line := range o.Pixels {
		numbers, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(numbers)%4 != 0 || len(numbers) == 0 || len(numbers) > 4*defectsLine {
			return nil, fmt.Errorf("pixels[%d]: found %d characters, expected 1 to %d numbers of four bytes in base64: only pretrain writes this step", i, len(line), defectsLine)
		}
		data = append(data, numbers...)
	}
	for at := 0; at < len(data); at += 4 {
		p := int(binary.LittleEndian.Uint32(data[at:]))
		if p >= o.Width*o.Height || len(d.pixels) > 0 && p <= d.pixels[len(d.pixels)-1] {
			return nil, fmt.Errorf("pixels: found index %d at position %d, expected ascending indices below %d: only pretrain writes this step", p, at/4, o.Width*o.Height)
		}
		d.pixels = append(d.pixels, p)
	}
	for _, p := range d.pixels {
		d.around = append(d.around, d.sound(p))
	}
	return d, nil
}

// sound returns the intact neighbours of p, or all neighbours if none is intact.
func (d *defects) sound(p int) (sound []int) {
	var all []int
	x, y := p%d.width, p/d.width
	for row := max(y-1, 0); row <= min(y+1, d.height-1); row++ {
		for column := max(x-1, 0); column <= min(x+1, d.width-1); column++ {
			if q := row*d.width + column; q != p {
				all = append(all, q)
				if _, defective := slices.BinarySearch(d.pixels, q); !defective {
					sound = append(sound, q)
				}
			}
		}
	}
	if sound == nil {
		return all
	}
	return sound
}

// DefectsOptions returns the options of the step defects for frames of the given size. pixels are the indices of defective pixels, ascending.
func DefectsOptions(width, height int, pixels []int) map[string]any {
	var lines []any
	for some := range slices.Chunk(pixels, defectsLine) {
		var data []byte
		for _, p := range some {
			data = binary.LittleEndian.AppendUint32(data, uint32(p))
		}
		lines = append(lines, base64.StdEncoding.EncodeToString(data))
	}
	return map[string]any{"width": width, "height": height, "pixels": lines}
}

// Apply accepts uint8, uint16 and float32 pictures of 1 or 3 channels and keeps their type.
func (d *defects) Apply(_ context.Context, f *frame.Frame) error {
	if err := check("defects", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F); err != nil {
		return err
	}
	m := f.Mat()
	if m.Cols() != d.width || m.Rows() != d.height {
		return complain("defects", f, "found %dx%d pixels, expected %dx%d: give frames with the same camera and binning as in training", m.Cols(), m.Rows(), d.width, d.height)
	}
	var err error
	switch depth(m) {
	case gocv.MatTypeCV8U:
		err = mend(d, m.Channels(), m.DataPtrUint8)
	case gocv.MatTypeCV16U:
		err = mend(d, m.Channels(), m.DataPtrUint16)
	default:
		err = mend(d, m.Channels(), m.DataPtrFloat32)
	}
	if err != nil {
		return complain("defects", f, "%w", err)
	}
	return nil
}

// mend replaces each defective pixel, channel by channel, by the median of its intact neighbours. For an even number of neighbours it uses the lower median.
func mend[T uint8 | uint16 | float32](d *defects, channels int, pixels func() ([]T, error)) error {
	data, err := pixels()
	if err != nil {
		return err
	}
	var values [8]T
	for k, p := range d.pixels {
		around := values[:len(d.around[k])]
		if len(around) == 0 { // a single-pixel picture
			continue
		}
		for ch := range channels {
			for i, q := range d.around[k] {
				around[i] = data[q*channels+ch]
			}
			slices.Sort(around)
			data[p*channels+ch] = around[(len(around)-1)/2]
		}
	}
	return nil
}

// Can reports that the result for a frame does not depend on other frames.
func (d *defects) Can() pipeline.Abilities { return pipeline.Abilities{Independent: true} }

func (d *defects) Close() error { return nil }
