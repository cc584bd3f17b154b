package preprocess

import (
	"context"
	"math"

	"gocv.io/x/gocv"

	"driftscope/internal/frame"
)

// filmRange is a normalise that takes its grey window from the smallest and the largest value of a whole film, as the paper's
// supplement does. Where no film is shown to it, the window runs.
type filmRange struct {
	*normalise
	looking bool // at a film of which nothing was applied yet
}

// Look widens the window to hold f. It takes the pictures that Apply takes, and changes none.
func (n *filmRange) Look(f *frame.Frame) error {
	if err := check("normalise", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F); err != nil {
		return err
	}
	if err := checkFinite("normalise", f); err != nil {
		return err
	}
	if !n.looking {
		n.looking, n.running = true, nil
		n.low, n.high = math.Inf(1), math.Inf(-1)
	}
	flat := f.Mat().Reshape(1, 0) // MinMaxLoc takes one channel
	defer flat.Close()
	low, high, _, _ := gocv.MinMaxLoc(flat)
	n.low, n.high = min(n.low, float64(low)), max(n.high, float64(high))
	return nil
}

// Apply takes what normalise takes.
func (n *filmRange) Apply(ctx context.Context, f *frame.Frame) error {
	n.looking = false
	if n.running == nil && n.low == n.high {
		return complain("normalise", f, "every pixel of the film is %g: it is blank, leave it out", n.low)
	}
	return n.normalise.Apply(ctx, f)
}

// filmROI is a roi around the object's mean centre in a whole film. Where no film is shown to it, it is the search in the first frames.
type filmROI struct {
	*roi
	search  searchOptions
	looking bool
}

// Look shows f to the search. It takes the pictures that Apply takes, and changes none.
func (r *filmROI) Look(f *frame.Frame) error {
	if err := check("roi", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F); err != nil {
		return err
	}
	if !r.looking {
		if err := r.Close(); err != nil {
			return err
		}
		r.looking = true
		r.finder = &finder{size: r.search.Size, every: 1, shrunk: gocv.NewMat()}
	}
	return r.finder.look(f)
}

// Apply takes what roi takes.
func (r *filmROI) Apply(ctx context.Context, f *frame.Frame) error {
	if r.looking {
		if err := r.settle(f); err != nil {
			return err
		}
	}
	return r.roi.Apply(ctx, f)
}

// settle places the region for the film that begins with f.
func (r *filmROI) settle(f *frame.Frame) error {
	r.looking = false
	if m := f.Mat(); m.Cols() != r.finder.full.X || m.Rows() != r.finder.full.Y {
		return complain("roi", f, "found %dx%d pixels, the film's are %dx%d: put the search before the steps that change the size",
			m.Cols(), m.Rows(), r.finder.full.X, r.finder.full.Y)
	}
	region, err := r.finder.region()
	if err != nil {
		return complain("roi", f, "%w", err)
	}
	r.region = region
	err = r.finder.Close()
	r.finder = nil
	return err
}
