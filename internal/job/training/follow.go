package training

import (
	"context"
	"errors"

	"driftscope/infer/field"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
	"driftscope/online/objects"
)

// most is the largest number of objects a frame that are followed.
const most = 2048

// errEnough ends the reading of frames.
var errEnough = errors.New("enough frames were seen")

// follow tracks the objects of a recording with the given light. It lends visit every frame and its objects, with the numbers from look.
// visit returns false to stop. follow closes look.
func follow(ctx context.Context, r *recording.Recording, light frame.Template, look field.Look, visit func(f *frame.Frame, o *latent.Objects) bool) error {
	locators, err := field.NewLocators(most)
	if err != nil {
		return err
	}
	estimator, err := objects.New(objects.Config{Bare: true})
	if err != nil {
		return err
	}
	defer estimator.Close()
	encoder := field.NewEncoder(locators, look)
	defer encoder.Close()
	steps := []pipeline.Step{field.NewPicture(), field.NewTemplate(light)}
	var seen latent.Sight
	var estimate latent.Estimate
	track := func(f *frame.Frame) error {
		for _, s := range steps {
			if err := s.Apply(ctx, f); err != nil {
				return err
			}
		}
		if err := encoder.Encode(ctx, &seen, f); err != nil {
			return err
		}
		seen.Head = latent.Head{Seq: f.Seq, Time: f.Time, Trajectory: f.Meta.Trajectory}
		if _, err := estimator.Update(&estimate, &seen); err != nil {
			return &pipeline.ErrSkip{Cause: "estimator_refused", Err: err}
		}
		if !visit(f, estimate.Objects) {
			return errEnough
		}
		return nil
	}
	timed, err := r.Each(ctx, nil, func(f *frame.Frame) error {
		err := track(f)
		if skip := (*pipeline.ErrSkip)(nil); errors.As(err, &skip) {
			return nil
		}
		return err
	})
	if err == nil && !timed {
		return r.Untimed()
	}
	if errors.Is(err, errEnough) && timed {
		return nil
	}
	return err
}
