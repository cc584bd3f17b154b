package preprocess

import (
	"image"
	"math"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
)

// show attaches an overview of the whole picture, with the region, to a frame that requests it. It does so once per request.
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

// sampled bounds the sides of a picture that is averaged for an overview. Larger pictures are subsampled first, which the eye does not notice.
const sampled = 2 * frame.OverviewSide

// overview returns m in 8 bits per channel, scaled from its darkest to its brightest value and reduced to at most frame.OverviewSide per side. m must have
// passed check.
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
		if !(v > low) { // also NaN
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
			colour.Pix[4*i+c] = level(values[3*i+2-c]) // OpenCV stores blue first
		}
		colour.Pix[4*i+3] = 255
	}
	return colour
}

// window returns the smallest finite value, and the factor that scales the largest to 255, or 0 if all values are equal.
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
