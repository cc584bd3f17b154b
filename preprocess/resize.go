package preprocess

import (
	"context"
	"fmt"
	"image"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// resizeOptions are the keys under resize, in pixels.
type resizeOptions struct {
	Width  int `yaml:"width"`
	Height int `yaml:"height"`
}

// resize averages areas if neither side grows, to avoid aliasing of noise, and interpolates linearly otherwise.
type resize struct{ size image.Point }

func newResize(decode func(dst any) error) (pipeline.Step, error) {
	var o resizeOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Width < 1 || o.Width > MaxSide || o.Height < 1 || o.Height > MaxSide {
		return nil, fmt.Errorf("width, height: found %dx%d, expected 1 to %d pixels each", o.Width, o.Height, MaxSide)
	}
	return &resize{image.Pt(o.Width, o.Height)}, nil
}

// Apply accepts uint8, uint16 and float32 pictures of 1 or 3 channels and keeps their type.
func (r *resize) Apply(_ context.Context, f *frame.Frame) error {
	err := check("resize", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F)
	if err != nil {
		return err
	}
	m := f.Mat()
	if m.Cols() == r.size.X && m.Rows() == r.size.Y {
		return nil
	}
	how := gocv.InterpolationLinear
	if r.size.X <= m.Cols() && r.size.Y <= m.Rows() {
		how = gocv.InterpolationArea
	}
	resized := gocv.NewMat()
	gocv.Resize(*m, &resized, r.size, 0, 0, how)
	f.Rescale(float64(m.Cols())/float64(r.size.X), float64(m.Rows())/float64(r.size.Y))
	f.Replace(resized)
	return nil
}

// Can reports that the result for a frame does not depend on other frames.
func (r *resize) Can() pipeline.Abilities { return pipeline.Abilities{Independent: true} }

func (r *resize) Close() error { return nil }
