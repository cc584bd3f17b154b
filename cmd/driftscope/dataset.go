package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/internal/frame"
)

// dataset is one recording, or several of the same kind of specimen that are read one after another.
type dataset []*recording

// openDataset understands what a person types. A span of frames has no meaning over several recordings.
func openDataset(args []string, dt, fps float64, assets string, s span) (dataset, error) {
	if len(args) > 1 && s != (span{0, math.MaxUint64}) {
		return nil, usage(fmt.Errorf("--train-frames %s: %d recordings were given, a span is of one: leave it out or give one recording", s, len(args)))
	}
	var d dataset
	for _, arg := range args {
		r, err := openRecording(arg, dt, fps, assets, s)
		if err != nil {
			return nil, err
		}
		d = append(d, r)
	}
	return d, nil
}

func (d dataset) String() string {
	var names []string
	for _, r := range d {
		names = append(names, r.arg)
	}
	return strings.Join(names, ", ")
}

// survey reads every recording once.
func (d dataset) survey(ctx context.Context) (*survey, error) {
	s := &survey{low: math.Inf(1), high: math.Inf(-1)}
	for _, r := range d {
		before := s.frames
		_, err := r.each(ctx, nil, func(f *frame.Frame) error { return r.naming(s.add(f)) })
		if err != nil {
			return nil, err
		}
		if s.frames == before {
			return nil, fmt.Errorf("%s has no frame in %s: check --train-frames", r.arg, r.span)
		}
	}
	return s, nil
}

// widest surveys every film, one trajectory of a recording, by itself, and gives the survey of the one where things move over the
// widest square. It is coloured where any is.
func (d dataset) widest(ctx context.Context) (*survey, error) {
	var widest, coloured *survey
	size := 0
	for _, r := range d {
		films, err := r.films(ctx)
		if err != nil {
			return nil, err
		}
		for i, s := range films {
			if err := s.check(); err != nil {
				return nil, fmt.Errorf("%s, film %d of %d: %w", r.arg, i+1, len(films), err)
			}
			if s.coloured() {
				coloured = s
			}
			if moving, _ := s.moving(); widest == nil || moving.size > size {
				widest, size = s, moving.size
			}
		}
	}
	if coloured != nil {
		widest.tinted, widest.hue = coloured.tinted, coloured.hue
	}
	return widest, nil
}

// films surveys the recording, each trajectory by itself.
func (r *recording) films(ctx context.Context) (films []*survey, err error) {
	var last uint64
	_, err = r.each(ctx, nil, func(f *frame.Frame) error {
		if films == nil || f.Meta.Trajectory != last {
			films, last = append(films, &survey{low: math.Inf(1), high: math.Inf(-1)}), f.Meta.Trajectory
		}
		return r.naming(films[len(films)-1].add(f))
	})
	if err == nil && films == nil {
		err = fmt.Errorf("%s has no frame in %s: check --train-frames", r.arg, r.span)
	}
	return films, err
}

// clip reads the recordings into memory, preprocessed. Trajectories are numbered anew, so that none goes on from one recording
// to the next.
func (d dataset) clip(ctx context.Context, steps []card.Step) (*sdevae.Clip, error) {
	c := &sdevae.Clip{}
	for _, r := range d {
		if err := r.read(ctx, c, steps); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// maxClip bounds a clip in memory, bytes.
const maxClip = 8 << 30

// read appends the recording to the clip.
func (r *recording) read(ctx context.Context, c *sdevae.Clip, steps []card.Step) error {
	first, number := c.Len(), uint64(0)
	if first > 0 {
		number = c.Trajectory[first-1] + 1
	}
	var last uint64
	timed, err := r.each(ctx, steps, func(f *frame.Frame) error {
		pixels, shape, err := planes(f)
		switch {
		case err != nil:
			return r.naming(err)
		case c.Len() == 0:
			c.Channels, c.Height, c.Width = shape[0], shape[1], shape[2]
		case [3]int{c.Channels, c.Height, c.Width} != shape:
			return r.naming(fmt.Errorf("frame %d is %dx%dx%d, the first was %dx%dx%d: give frames of one size and colour", f.Seq, shape[0], shape[1], shape[2], c.Channels, c.Height, c.Width))
		case 4*(len(c.Pixels)+len(pixels)) > maxClip:
			return r.naming(fmt.Errorf("the clip needs more than %d GiB of memory: choose fewer frames with --train-frames", maxClip>>30))
		}
		if c.Len() > first && f.Meta.Trajectory != last {
			number++
		}
		last = f.Meta.Trajectory
		c.Pixels = append(c.Pixels, pixels...)
		c.Times = append(c.Times, seconds(f))
		c.Trajectory = append(c.Trajectory, number)
		return nil
	})
	if err == nil && !timed {
		err = usage(fmt.Errorf("%s says nothing of its frame interval: give --dt SECONDS or --fps N", r.arg))
	}
	return err
}

// naming puts the recording's name before an error about one of its frames.
func (r *recording) naming(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s: %w", r.arg, err)
}
