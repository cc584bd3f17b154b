// Package census counts the objects of a film. It warns a user about to train a model of one scene that the film shows many objects.
package census

import (
	"context"
	"errors"
	"fmt"
	"time"

	"driftscope/infer/field"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
	"driftscope/online/objects"
)

// A census reads the first Frames frames of a film, with at most most spots each. It counts an object seen in half of them. The object moves by itself if
// the interval of its diffusion is above zero after subtracting the common motion.
const (
	Frames = 40
	most   = 2048
)

// Many is the least number of self-moving objects that makes a film one of many objects: a scene for one model has up to five.
const Many = 6

// Count is the result of a census.
type Count struct {
	Objects  int            // seen in at least half the frames
	Moving   int            // how many of these move by themselves
	Template frame.Template // of an object's light; sd 0 if none was found
}

// Proposes reports whether the film shows many objects.
func (c Count) Proposes() bool { return c.Moving >= Many }

// Proposal says what to do with such a film. source is the recording as the user types it.
func (c Count) Proposal(source string) string {
	return fmt.Sprintf("the film shows %d objects, of which %d move by themselves: driftscope run %s --objects follows every one of them, without a training", c.Objects, c.Moving, source)
}

// errEnough ends the reading of frames.
var errEnough = errors.New("enough frames were seen")

// Take counts the objects in the first frames of a recording.
func Take(ctx context.Context, r *recording.Recording) (c Count, err error) {
	t, err := newTaker(frame.Template{}, nil)
	if err != nil {
		return c, err
	}
	defer t.close()
	_, err = t.read(ctx, r, func(time.Time, *latent.Objects) bool { return t.frames < Frames })
	if err != nil {
		return c, err
	}
	return t.count(), nil
}

// Follow tracks the objects of a recording with the given light. It lends visit the time of every frame and its objects, with the numbers from look.
// visit returns false to stop. Follow closes look.
func Follow(ctx context.Context, r *recording.Recording, light frame.Template, look field.Look, visit func(at time.Time, o *latent.Objects) bool) error {
	t, err := newTaker(light, look)
	if err != nil {
		return err
	}
	defer t.close()
	timed, err := t.read(ctx, r, visit)
	if err == nil && !timed {
		err = r.Untimed()
	}
	return err
}

// taker tracks the objects of frames as a stream does.
type taker struct {
	steps     []pipeline.Step
	encoder   *field.Encoder
	estimator *objects.Estimator
	seen      latent.Sight
	estimate  latent.Estimate
	frames    int
	template  frame.Template // in the last frame
	ended     []*latent.Track
}

func newTaker(template frame.Template, look field.Look) (*taker, error) {
	locators, err := field.NewLocators(most)
	if err != nil {
		return nil, err
	}
	estimator, err := objects.New(objects.Config{Bare: true})
	if err != nil {
		return nil, err
	}
	return &taker{steps: []pipeline.Step{field.NewPicture(), field.NewTemplate(template)}, encoder: field.NewEncoder(locators, look), estimator: estimator}, nil
}

func (t *taker) close() {
	t.encoder.Close()
	t.estimator.Close()
}

// read reads frames of the recording until visit returns false.
func (t *taker) read(ctx context.Context, r *recording.Recording, visit func(time.Time, *latent.Objects) bool) (timed bool, err error) {
	timed, err = r.Each(ctx, nil, func(f *frame.Frame) error {
		var skip *pipeline.ErrSkip
		switch err := t.look(ctx, f); {
		case errors.As(err, &skip):
			return nil
		case err != nil:
			return err
		case !visit(t.seen.Time, t.estimate.Objects):
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return timed, err
}

func (t *taker) look(ctx context.Context, f *frame.Frame) error {
	for _, s := range t.steps {
		if err := s.Apply(ctx, f); err != nil {
			return err
		}
	}
	if err := t.encoder.Encode(ctx, &t.seen, f); err != nil {
		return err
	}
	t.template = f.Meta.Template
	t.seen.Head = latent.Head{Seq: f.Seq, Time: f.Time, Trajectory: f.Meta.Trajectory}
	if _, err := t.estimator.Update(&t.estimate, &t.seen); err != nil {
		return &pipeline.ErrSkip{Cause: "estimator_refused", Err: err}
	}
	t.frames++
	t.take(t.estimator.Reports())
	return nil
}

// take keeps the reports of ended objects.
func (t *taker) take(reports []latent.Message) {
	for _, m := range reports {
		if k, ok := m.(*latent.Track); ok && k.Change == latent.Ended {
			t.ended = append(t.ended, k)
		}
	}
}

func (t *taker) count() (c Count) {
	t.take(t.estimator.Last())
	c.Template = t.template
	for _, k := range t.ended {
		if 2*k.Frames < uint64(t.frames) {
			continue
		}
		c.Objects++
		if k.Px.Low > 0 {
			c.Moving++
		}
	}
	return c
}
