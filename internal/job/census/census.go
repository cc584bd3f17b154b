// Package census counts the objects of a film, so that whoever is about to train one model of a scene learns in time that the film shows many.
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

// A film is looked at for its first frames, for at most so many spots each. An object is counted where it was seen in half of them, and moves by itself
// where its diffusion is above zero by its interval, the motion of all together taken off.
const (
	Frames = 40
	most   = 2048
)

// Many is how many objects that move by themselves make a film one of many: a scene that one model follows has up to five.
const Many = 6

// Count is what a census finds.
type Count struct {
	Objects  int            // seen in half the frames at least
	Moving   int            // of these, those that move by themselves
	Template frame.Template // of an object's light; without an sd where none was found
}

// Proposes says whether the film is one of many objects.
func (c Count) Proposes() bool { return c.Moving >= Many }

// Proposal is what to do with such a film, for source as a person types it.
func (c Count) Proposal(source string) string {
	return fmt.Sprintf("the film shows %d objects, of which %d move by themselves: driftscope run %s --objects follows every one of them, without a training", c.Objects, c.Moving, source)
}

// errEnough ends the reading.
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

// Follow follows the objects of a recording, of the light that is given. visit is lent the time of every frame, and the objects there with what
// look makes of them; it says whether to go on. look is closed.
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

// taker takes frames the way of a stream.
type taker struct {
	steps     []pipeline.Step
	encoder   *field.Encoder
	estimator *objects.Estimator
	seen      latent.Sight
	estimate  latent.Estimate
	frames    int
	template  frame.Template // as of the last frame
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

// read takes the recording's frames until visit has enough.
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

// take keeps what is told of objects that have ended.
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
