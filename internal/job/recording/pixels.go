package recording

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"driftscope/internal/flow/frame"
)

// Planes copies the pixels of a preprocessed frame from its Mat, as CHW in [0,1], red first if coloured. shape is C, H, W.
func Planes(f *frame.Frame) (pixels []float32, shape [3]int, err error) {
	m := f.Mat()
	channels := m.Channels()
	if m.Empty() || (m.Type() != frame.MatTypeCV32FC1 && m.Type() != frame.MatTypeCV32FC3) {
		return nil, shape, fmt.Errorf("frame %d has pixel type %v after preprocessing, expected float32 with 1 or 3 channels: end with normalise to float32", f.Seq, m.Type())
	}
	data, err := m.DataPtrFloat32()
	if err != nil {
		return nil, shape, fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	shape = [3]int{channels, m.Rows(), m.Cols()}
	area := shape[1] * shape[2]
	pixels = make([]float32, len(data))
	for c := range channels {
		for i := range area {
			pixels[c*area+i] = data[i*channels+channels-1-c] // BGR → RGB; a single channel stays
		}
	}
	return pixels, shape, nil
}

// GreyFrame is a raw frame as the plain mean of its channels, in the frame's own units.
type GreyFrame struct {
	Pixels        []float32
	Width, Height int
	low, high     float32   // extremes over all channels
	coloured      bool      // some pixel's channels differ by more than an eighth of the frame's range
	real          bool      // the pixels are floats
	values        []float32 // of all channels, pixel by pixel
	mean          []float32 // buffer for Pixels if there are several channels
}

// Grey copies a raw frame of any pixel type that sources deliver.
func Grey(f *frame.Frame) (g GreyFrame, err error) {
	err = g.Read(f)
	return g, err
}

// Read is like Grey but reuses the memory of the previous frame.
func (g *GreyFrame) Read(f *frame.Frame) error {
	m := f.Mat()
	channels := m.Channels()
	if m.Empty() || (channels != 1 && channels != 3) {
		return fmt.Errorf("frame %d has %d channels, expected 1 or 3", f.Seq, channels)
	}
	data, err := wide(g.values, m)
	if err != nil {
		return fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	pixels := data
	if channels > 1 {
		pixels = resized(g.mean, len(data)/channels)
		g.mean = pixels
	}
	g.Pixels, g.Width, g.Height, g.real = pixels, m.Cols(), m.Rows(), m.Type() == frame.MatTypeCV32FC1 || m.Type() == frame.MatTypeCV32FC3
	g.values = data
	g.low, g.high = data[0], data[0]
	apart := float32(0)
	for i := range g.Pixels {
		var sum float32
		for _, v := range data[i*channels : (i+1)*channels] {
			sum += v
			g.low, g.high = min(g.low, v), max(g.high, v)
			apart = max(apart, v-data[i*channels], data[i*channels]-v)
		}
		g.Pixels[i] = sum / float32(channels)
	}
	g.coloured = apart > (g.high-g.low)/8
	return nil
}

// wide copies the values of a frame of 8 or 16 bits or float32, into dst if they fit.
func wide(dst []float32, m *frame.Mat) ([]float32, error) {
	to := resized(dst, m.Total()*m.Channels())
	switch m.Type() & 7 { // the low three bits are the depth
	case frame.MatTypeCV8U:
		from, err := m.DataPtrUint8()
		return to, widen(to, from, err)
	case frame.MatTypeCV16U:
		from, err := m.DataPtrUint16()
		return to, widen(to, from, err)
	case frame.MatTypeCV32F:
		from, err := m.DataPtrFloat32()
		return to, widen(to, from, err)
	}
	return nil, fmt.Errorf("pixels of OpenCV type %v, expected uint8, uint16 or float32", m.Type())
}

// resized returns n undefined values, in dst's memory if they fit.
func resized(dst []float32, n int) []float32 { return slices.Grow(dst[:0], n)[:n] }

func widen[T uint8 | uint16 | float32](to []float32, from []T, err error) error {
	if err != nil {
		return err
	}
	for i, v := range from {
		to[i] = float32(v)
	}
	return nil
}

// window returns value*scale + shift for every value of a picture, as an 8-bit picture that the caller owns.
func window(m *frame.Mat, scale, shift float32) (frame.Mat, error) {
	from, err := wide(nil, m)
	if err != nil {
		return frame.Mat{}, err
	}
	shown := frame.NewMatWithSize(m.Rows(), m.Cols(), frame.MatTypeCV8U+m.Type()&^7)
	to, err := shown.DataPtrUint8()
	if err != nil {
		return frame.Mat{}, errors.Join(err, shown.Close())
	}
	for i, v := range from {
		if v = v*scale + shift; v > 0 { // NaN becomes black
			to[i] = uint8(math.RoundToEven(float64(min(v, math.MaxUint8))))
		} else {
			to[i] = 0
		}
	}
	return shown, nil
}

// Planar is a picture of one or three channels, stored one after another.
type Planar struct {
	Pixels          []float32
	Channels, Width int
}

// Paint copies the picture into img at a position. level converts a value to a brightness.
func (p Planar) Paint(img *image.RGBA, at image.Point, level func(float32) uint8) {
	area := len(p.Pixels) / p.Channels
	value := func(channel, i int) uint8 { return level(p.Pixels[min(channel, p.Channels-1)*area+i]) }
	for i := range area {
		img.SetRGBA(at.X+i%p.Width, at.Y+i/p.Width, color.RGBA{value(0, i), value(1, i), value(2, i), 255})
	}
}
