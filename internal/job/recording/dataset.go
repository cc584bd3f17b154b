//go:build cgo

package recording

import (
	"context"
	"fmt"
	"math"
	"strings"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/flow/frame"
	"driftscope/internal/kit/console"
)

// Dataset holds one or several recordings of the same kind of specimen, which are read one after another.
type Dataset []*Recording

// OpenDataset opens recordings by the names that the user typed. It refuses a span of frames for several recordings.
func OpenDataset(args []string, dt, fps float64, assets string, s Span) (Dataset, error) {
	if len(args) > 1 && s != Whole {
		return nil, console.Usage(fmt.Errorf("--train-frames %s: %d recordings were given, but a span of frames needs a single one: leave it out or give one recording", s, len(args)))
	}
	var d Dataset
	for _, arg := range args {
		r, err := Open(arg, dt, fps, assets, s)
		if err != nil {
			return nil, err
		}
		d = append(d, r)
	}
	return d, nil
}

func (d Dataset) String() string {
	var names []string
	for _, r := range d {
		names = append(names, r.Arg)
	}
	return strings.Join(names, ", ")
}

// Survey reads every recording once, after the given preprocessing steps.
func (d Dataset) Survey(ctx context.Context, behind ...card.Step) (*Survey, error) {
	s := &Survey{low: math.Inf(1), high: math.Inf(-1), behind: behind, singles: &singles{}}
	var g GreyFrame
	for _, r := range d {
		before := s.frames
		_, err := r.Each(ctx, behind, func(f *frame.Frame) error { return r.Naming(s.add(f, &g)) })
		if err != nil {
			return nil, err
		}
		if s.frames == before {
			return nil, fmt.Errorf("%s has no frame in %s: check --train-frames", r.Arg, r.span)
		}
	}
	return s, nil
}

// Widest surveys every film, which is one trajectory of a recording, and returns the survey of the film whose objects move over the widest square. The
// survey is coloured if any film is.
func (d Dataset) Widest(ctx context.Context) (*Survey, error) {
	var widest, coloured *Survey
	size := 0
	for _, r := range d {
		films, err := r.films(ctx)
		if err != nil {
			return nil, err
		}
		for i, s := range films {
			if err := s.Check(); err != nil {
				return nil, fmt.Errorf("%s, film %d of %d: %w", r.Arg, i+1, len(films), err)
			}
			if s.Coloured() {
				coloured = s
			}
			if moving, _ := s.Moving(); widest == nil || moving.Size > size {
				widest, size = s, moving.Size
			}
		}
	}
	if coloured != nil {
		widest.tinted, widest.hue = coloured.tinted, coloured.hue
	}
	return widest, nil
}

// films surveys the recording, each trajectory separately.
func (r *Recording) films(ctx context.Context) (films []*Survey, err error) {
	var last uint64
	var g GreyFrame
	_, err = r.Each(ctx, nil, func(f *frame.Frame) error {
		if films == nil || f.Meta.Trajectory != last {
			films, last = append(films, &Survey{low: math.Inf(1), high: math.Inf(-1)}), f.Meta.Trajectory
		}
		return r.Naming(films[len(films)-1].add(f, &g))
	})
	if err == nil && films == nil {
		err = fmt.Errorf("%s has no frame in %s: check --train-frames", r.Arg, r.span)
	}
	return films, err
}

// Clip preprocesses the recordings and reads them into memory. It renumbers trajectories, so that none continues into the next recording.
func (d Dataset) Clip(ctx context.Context, steps []card.Step) (*video.Clip, error) {
	c := &video.Clip{}
	for _, r := range d {
		if err := r.read(ctx, c, steps); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// maxClip is the largest size of a clip in memory, bytes.
const maxClip = 8 << 30

// read appends the recording to the clip.
func (r *Recording) read(ctx context.Context, c *video.Clip, steps []card.Step) error {
	first, number := c.Len(), uint64(0)
	if first > 0 {
		number = c.Trajectory[first-1] + 1
	}
	var last uint64
	timed, err := r.Each(ctx, steps, func(f *frame.Frame) error {
		pixels, shape, err := Planes(f)
		switch {
		case err != nil:
			return r.Naming(err)
		case c.Len() == 0:
			c.Channels, c.Height, c.Width = shape[0], shape[1], shape[2]
		case [3]int{c.Channels, c.Height, c.Width} != shape:
			return r.Naming(fmt.Errorf("frame %d is %dx%dx%d, the first was %dx%dx%d: give frames of one size and colour", f.Seq, shape[0], shape[1], shape[2], c.Channels, c.Height, c.Width))
		case 4*(len(c.Pixels)+len(pixels)) > maxClip:
			return r.Naming(fmt.Errorf("the clip needs more than %d GiB of memory: choose fewer frames with --train-frames", maxClip>>30))
		}
		if c.Len() > first && f.Meta.Trajectory != last {
			number++
		}
		last = f.Meta.Trajectory
		c.Pixels = append(c.Pixels, pixels...)
		c.Times = append(c.Times, Seconds(f))
		c.Trajectory = append(c.Trajectory, number)
		return nil
	})
	if err == nil && !timed {
		err = r.Untimed()
	}
	return err
}
