package preprocess

import (
	"context"
	"fmt"
	"math"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// filmRange is a normalise whose grey window spans all values of a film, as in the paper's supplement. If Look was not called, the window spans the values of
// the frames so far.
type filmRange struct {
	normalise       *normalise
	lowest, highest float64 // values seen
	whole           bool    // Look was called
	looking         bool    // Look is being called for a film, before its first Apply
}

// Look widens the window to include f. It accepts the same pictures as Apply and does not change them.
func (n *filmRange) Look(f *frame.Frame) error {
	if !n.looking {
		n.whole, n.looking = true, true
		n.lowest, n.highest = math.Inf(1), math.Inf(-1)
	}
	if err := n.meet(f); err != nil {
		return err
	}
	n.normalise.low, n.normalise.high = n.lowest, n.highest
	return nil
}

// Can reports that the step needs Look for a whole film. Frames are not independent, because the window depends on earlier frames.
func (n *filmRange) Can() pipeline.Abilities { return pipeline.Abilities{Look: n.Look} }

// Close frees the memory of normalise.
func (n *filmRange) Close() error { return n.normalise.Close() }

// meet extends the range to the values of f.
func (n *filmRange) meet(f *frame.Frame) error {
	if err := check("normalise", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F); err != nil {
		return err
	}
	if err := checkFinite("normalise", f); err != nil {
		return err
	}
	flat := f.Mat().Reshape(1, 0) // MinMaxLoc needs one channel
	defer flat.Close()
	low, high, _, _ := gocv.MinMaxLoc(flat)
	n.lowest, n.highest = min(n.lowest, float64(low)), max(n.highest, float64(high))
	return nil
}

// Apply accepts the same pictures as normalise.
func (n *filmRange) Apply(ctx context.Context, f *frame.Frame) error {
	n.looking = false
	if !n.whole {
		if err := n.widen(f); err != nil {
			return err
		}
	}
	if n.normalise.low == n.normalise.high {
		return &pipeline.ErrSkip{Cause: "blank_frame", Err: complain("normalise", f, "every pixel of the film so far is %g: check the light", n.normalise.low)}
	}
	return n.normalise.Apply(ctx, f)
}

// widen extends the window to the values of f, in a stream. It does not extend it for an excess below moveBeyond of the width, which is clipped instead;
// otherwise the window would never settle.
func (n *filmRange) widen(f *frame.Frame) error {
	if err := n.meet(f); err != nil {
		return err
	}
	limit := moveBeyond * (n.normalise.high - n.normalise.low)
	if n.normalise.low-n.lowest <= limit && n.highest-n.normalise.high <= limit {
		return nil
	}
	n.normalise.low, n.normalise.high = n.lowest, n.highest
	f.Notice(false, "range_set", fmt.Sprintf("the grey window is now [%.6g, %.6g], the range of the frames so far", n.normalise.low, n.normalise.high))
	return nil
}

// filmROI is a roi around the object's mean centre in a whole film. If Look was not called, it searches in the first frames.
type filmROI struct {
	roi     *roi
	search  searchOptions
	looking bool
}

// Look passes f to the search. It accepts the same pictures as Apply and does not change them.
func (r *filmROI) Look(f *frame.Frame) error {
	if err := check("roi", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F); err != nil {
		return err
	}
	if !r.looking {
		if err := r.Close(); err != nil {
			return err
		}
		r.looking = true
		r.roi.finder = &finder{size: r.search.Size, every: 1, shrunk: gocv.NewMat()}
	}
	return r.roi.finder.look(f)
}

// Apply accepts the same pictures as roi.
func (r *filmROI) Apply(ctx context.Context, f *frame.Frame) error {
	if r.looking {
		if err := r.settle(f); err != nil {
			return err
		}
	}
	return r.roi.Apply(ctx, f)
}

// Can reports that the step needs Look for a whole film before its first frame, and that it can move the region.
func (r *filmROI) Can() pipeline.Abilities { return pipeline.Abilities{Look: r.Look, Region: r.roi} }

// Close frees the memory of the region and the search.
func (r *filmROI) Close() error { return r.roi.Close() }

// settle sets the region for the film that begins with f.
func (r *filmROI) settle(f *frame.Frame) error {
	r.looking = false
	if m := f.Mat(); m.Cols() != r.roi.finder.full.X || m.Rows() != r.roi.finder.full.Y {
		return complain("roi", f, "found %dx%d pixels, but the film's frames have %dx%d: put the search before the steps that change the size",
			m.Cols(), m.Rows(), r.roi.finder.full.X, r.roi.finder.full.Y)
	}
	region, err := r.roi.finder.region()
	if err != nil {
		return complain("roi", f, "%w", err)
	}
	r.roi.region = region
	err = r.roi.finder.Close()
	r.roi.finder = nil
	return err
}
