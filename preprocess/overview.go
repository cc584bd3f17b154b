package preprocess

import (
	"image"
	"math"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
)

// show fills in what people see of the picture that the region is cut out of, in the frames that ask for it and were not asked before.
func (r *roi) show(f *frame.Frame) {
	o := f.Meta.Overview
	if o == nil || !o.Region.Empty() {
		return
	}
	o.Whole, o.Region = r.picture.Max, r.region
	if o.Draw {
		o.Picture = overview(f.Mat())
	}
}

// sampled bounds the sides of the picture that an overview is averaged from: of larger ones most pixels are left out, and the eye does not
// miss them.
const sampled = 2 * frame.OverviewSide

// overview is m in 256 greys or colours, from its darkest value to its brightest, at most frame.OverviewSide a side. m has passed check.
func overview(m *gocv.Mat) image.Image {
	full := image.Pt(m.Cols(), m.Rows())
	size := shrink(full, frame.OverviewSide)
	sample, small := gocv.NewMat(), gocv.NewMat()
	defer sample.Close()
	defer small.Close()
	gocv.Resize(*m, &sample, shrink(full, sampled), 0, 0, gocv.InterpolationNearestNeighbor)
	gocv.Resize(sample, &small, size, 0, 0, gocv.InterpolationArea)
	small.ConvertTo(&small, gocv.MatTypeCV32F)
	values, err := small.DataPtrFloat32()
	if err != nil {
		return nil
	}
	low, scale := window(values)
	level := func(v float32) uint8 {
		if !(v > low) { // NaN too
			return 0
		}
		return uint8(min((v-low)*scale, 255) + 0.5)
	}
	if m.Channels() == 1 {
		grey := image.NewGray(image.Rectangle{Max: size})
		for i, v := range values {
			grey.Pix[i] = level(v)
		}
		return grey
	}
	colour := image.NewRGBA(image.Rectangle{Max: size})
	for i := range size.X * size.Y {
		for c := range 3 {
			colour.Pix[4*i+c] = level(values[3*i+2-c]) // OpenCV has blue first
		}
		colour.Pix[4*i+3] = 255
	}
	return colour
}

// window is the least of the finite values, and what brings the greatest to 255; 0 where there are not two that differ.
func window(values []float32) (low, scale float32) {
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for _, v := range values {
		if !notFinite(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	if span := high - low; span > 0 && !notFinite(span) {
		scale = 255 / span
	}
	return low, scale
}
