package recording

import (
	"context"
	"errors"

	"driftscope/infer/field"
	"driftscope/infer/finder"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/online/objects"
)

// MostFollowed is the largest number of objects per frame that are followed in a recording.
const MostFollowed = 2048

// errEnough ends the reading of frames.
var errEnough = errors.New("enough frames were seen")

// Trackability follows the objects of a first look for at most frames frames and describes how reliable their links are. It returns "" after too few links
// or without times.
func (r *Recording) Trackability(ctx context.Context, seen *finder.Finder, frames int) (string, error) {
	finds := field.NewFinds(seen, MostFollowed, new(field.Tally))
	estimator, timed, err := r.Follow(ctx, field.NewTold(seen), finds.Encode, func(*frame.Frame, *latent.Objects) bool { frames--; return frames > 0 })
	if err != nil || !timed {
		return "", err
	}
	estimator.Last()
	return estimator.Trackability(), nil
}

// Follow passes the frames of a recording through a step and an encoder to an estimator. It lends each frame to visit, until visit returns false. The
// returned estimator is closed. timed reports whether the frames have times.
func (r *Recording) Follow(ctx context.Context, step pipeline.Step, encode func(context.Context, *latent.Sight, *frame.Frame) error,
	visit func(f *frame.Frame, o *latent.Objects) bool) (e *objects.Estimator, timed bool, err error) {
	if e, err = objects.New(objects.Config{Bare: true}); err != nil {
		return nil, false, err
	}
	defer e.Close()
	picture := field.NewPicture()
	var seen latent.Sight
	var estimate latent.Estimate
	one := func(f *frame.Frame) error {
		for _, s := range []pipeline.Step{picture, step} {
			if err := s.Apply(ctx, f); err != nil {
				return err
			}
		}
		if err := encode(ctx, &seen, f); err != nil {
			return err
		}
		seen.Head = latent.Head{Seq: f.Seq, Time: f.Time, Trajectory: f.Meta.Trajectory}
		if _, err := e.Update(&estimate, &seen); err != nil {
			return &pipeline.ErrSkip{Cause: "estimator_refused", Err: err}
		}
		if !visit(f, estimate.Objects) {
			return errEnough
		}
		return nil
	}
	timed, err = r.Each(ctx, nil, func(f *frame.Frame) error {
		err := one(f)
		if skip := (*pipeline.ErrSkip)(nil); errors.As(err, &skip) {
			return nil
		}
		return err
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return e, timed, err
}
