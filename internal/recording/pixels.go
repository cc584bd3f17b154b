package recording

import (
	"fmt"
	"image"
	"image/color"
	"slices"

	"gocv.io/x/gocv"

	"driftscope/internal/frame"
)

// Planes copies a preprocessed frame out of its Mat: CHW in [0,1], red first where it is coloured. shape is C, H, W.
func Planes(f *frame.Frame) (pixels []float32, shape [3]int, err error) {
	m := f.Mat()
	channels := m.Channels()
	if m.Empty() || (m.Type() != gocv.MatTypeCV32FC1 && m.Type() != gocv.MatTypeCV32FC3) {
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

// GreyFrame is a raw frame's picture as the plain mean of its channels, in the frame's own counts.
type GreyFrame struct {
	Pixels        []float32
	Width, Height int
	low, high     float32   // extremes over all channels
	coloured      bool      // some pixel's channels differ by more than an eighth of the frame's range
	real          bool      // of float pixels
	values        []float32 // of all channels, one pixel's after another's
}

// Grey copies a raw frame of any pixel type that sources give.
func Grey(f *frame.Frame) (GreyFrame, error) {
	m := f.Mat()
	channels := m.Channels()
	if m.Empty() || (channels != 1 && channels != 3) {
		return GreyFrame{}, fmt.Errorf("frame %d has %d channels, expected 1 or 3", f.Seq, channels)
	}
	wide := gocv.NewMat()
	defer wide.Close()
	m.ConvertTo(&wide, gocv.MatTypeCV32F)
	data, err := wide.DataPtrFloat32()
	if err != nil {
		return GreyFrame{}, fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	g := GreyFrame{Pixels: make([]float32, len(data)/channels), Width: m.Cols(), Height: m.Rows(), real: m.Type() == gocv.MatTypeCV32FC1 || m.Type() == gocv.MatTypeCV32FC3}
	g.values = slices.Clone(data)
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
	return g, nil
}

// Planar is a picture whose channels, one or three, lie one after another.
type Planar struct {
	Pixels          []float32
	Channels, Width int
}

// Paint copies the picture to a place in img; level turns a value into a brightness.
func (p Planar) Paint(img *image.RGBA, at image.Point, level func(float32) uint8) {
	area := len(p.Pixels) / p.Channels
	value := func(channel, i int) uint8 { return level(p.Pixels[min(channel, p.Channels-1)*area+i]) }
	for i := range area {
		img.SetRGBA(at.X+i%p.Width, at.Y+i/p.Width, color.RGBA{value(0, i), value(1, i), value(2, i), 255})
	}
}
