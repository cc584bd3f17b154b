package preprocess

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// roiOptions are the keys under roi: x, y, width and height; or centre and size; or search.
type roiOptions struct {
	X      int            `yaml:"x"`
	Y      int            `yaml:"y"`
	Width  int            `yaml:"width"`
	Height int            `yaml:"height"`
	Centre *[2]float64    `yaml:"centre"`
	Size   int            `yaml:"size"` // side of the square around centre
	Search *searchOptions `yaml:"search"`
}

// roi crops the picture to a region.
type roi struct {
	region image.Rectangle
	finder *finder // nil once the region is final
	cuts   uint64  // number of trajectories started by moves of the region

	picture image.Rectangle // bounds of the last picture; empty before the first
}

func newROI(decode func(dst any) error) (pipeline.Step, error) {
	var o roiOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	fixed := o.X != 0 || o.Y != 0 || o.Width != 0 || o.Height != 0
	centred := o.Centre != nil || o.Size != 0
	switch {
	case fixed && !centred && o.Search == nil:
		return fixedROI(&o)
	case centred && !fixed && o.Search == nil:
		return centredROI(&o)
	case o.Search != nil && !fixed && !centred:
		finder, err := newFinder(*o.Search)
		if err != nil {
			return nil, err
		}
		if o.Search.Film {
			return &filmROI{roi: &roi{finder: finder}, search: *o.Search}, nil
		}
		return &roi{finder: finder}, nil
	}
	return nil, errors.New("the region is missing or given twice, expected one of: x, y, width and height; centre and size; search")
}

func fixedROI(o *roiOptions) (pipeline.Step, error) {
	if o.X < 0 || o.Y < 0 || o.X > MaxSide || o.Y > MaxSide {
		return nil, fmt.Errorf("x, y: found %d, %d, expected 0 to %d", o.X, o.Y, MaxSide)
	}
	if o.Width < 1 || o.Height < 1 || o.Width > MaxSide || o.Height > MaxSide {
		return nil, fmt.Errorf("width, height: found %dx%d, expected 1 to %d pixels each", o.Width, o.Height, MaxSide)
	}
	return &roi{region: image.Rect(o.X, o.Y, o.X+o.Width, o.Y+o.Height)}, nil
}

func centredROI(o *roiOptions) (pipeline.Step, error) {
	if o.Centre == nil {
		return nil, errors.New("size is given without centre: give centre: [x, y], too")
	}
	at := Point{o.Centre[0], o.Centre[1]}
	if !(at.X >= 0 && at.Y >= 0 && at.X <= MaxSide && at.Y <= MaxSide) {
		return nil, fmt.Errorf("centre: found %v, expected [x, y] within 0 to %d", *o.Centre, MaxSide)
	}
	if o.Size < 1 || o.Size > MaxSide {
		return nil, fmt.Errorf("size: found %d, expected 1 to %d pixels", o.Size, MaxSide)
	}
	return &roi{region: Square(at, o.Size)}, nil
}

// Square returns the region of size by size pixels, on whole pixels, whose centre is nearest to at.
func Square(at Point, size int) image.Rectangle {
	corner := image.Pt(
		int(math.Round(at.X-float64(size-1)/2)),
		int(math.Round(at.Y-float64(size-1)/2)),
	)
	return image.Rectangle{Min: corner, Max: corner.Add(image.Pt(size, size))}
}

// Apply accepts uint8, uint16 and float32 pictures of 1 or 3 channels. A region outside the picture is an error.
func (r *roi) Apply(_ context.Context, f *frame.Frame) error {
	err := check("roi", f, gocv.MatTypeCV8U, gocv.MatTypeCV16U, gocv.MatTypeCV32F)
	if err != nil {
		return err
	}
	if r.finder != nil {
		if err := r.find(f); err != nil {
			return err
		}
	}
	f.Meta.Trajectory += r.cuts
	m := f.Mat()
	r.picture = image.Rect(0, 0, m.Cols(), m.Rows())
	if !r.region.In(r.picture) {
		return complain("roi", f, "the region x %d to %d, y %d to %d does not lie inside the frame of %dx%d pixels, at least %dx%d expected: train a model on frames of this size, or leave them out",
			r.region.Min.X, r.region.Max.X, r.region.Min.Y, r.region.Max.Y, r.picture.Max.X, r.picture.Max.Y, r.region.Max.X, r.region.Max.Y)
	}
	r.show(f)
	part := m.Region(r.region)
	cut := part.Clone()
	part.Close()
	f.Replace(cut)
	f.Cut(r.region.Min.X, r.region.Min.Y)
	return nil
}

// find passes f to the finder. The region is provisional from the first frame on, and final after the last frame of the search. If the final region differs, a
// new trajectory begins with f, because earlier latents come from another region.
func (r *roi) find(f *frame.Frame) error {
	if err := r.finder.show(f); err != nil {
		return err
	}
	first, last := r.finder.shown() == 1, r.finder.done()
	if !first && !last {
		return nil
	}
	region, err := r.finder.region()
	if err != nil {
		return complain("roi", f, "%w", err)
	}
	if !first && region != r.region {
		r.cuts++
	}
	r.region = region
	if !last {
		return nil
	}
	f.Notice(false, "roi_set", fmt.Sprintf("the region of interest is x %d to %d, y %d to %d from here on, found in %d frames",
		region.Min.X, region.Max.X, region.Min.Y, region.Max.Y, r.finder.shown()))
	err = r.finder.Close()
	r.finder = nil
	return err
}

// Can reports that the step can move the region, and that frames are independent of each other if the region is fixed.
func (r *roi) Can() pipeline.Abilities {
	return pipeline.Abilities{Independent: r.finder == nil, Region: r}
}

// Reach returns the largest corner to which the region can move, from the size of the last frame. ok is false before the first frame.
func (r *roi) Reach() (corner image.Point, ok bool) {
	return r.picture.Max.Sub(r.region.Size()), !r.picture.Empty()
}

// Move moves the region's upper left corner, and ends a search in progress.
func (r *roi) Move(corner image.Point) error {
	err := r.Close()
	r.finder = nil
	r.region = r.region.Sub(r.region.Min).Add(corner)
	r.cuts++
	return err
}

func (r *roi) Close() error {
	if r.finder == nil {
		return nil
	}
	return r.finder.Close()
}
