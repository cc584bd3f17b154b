// Package census counts the objects of a film, so that whoever is about to train one model of a scene learns in time that the film shows many.
package census

import (
	"context"
	"errors"
	"fmt"

	"driftscope/infer/field"
	"driftscope/internal/frame"
	"driftscope/internal/latent"
	"driftscope/internal/pipeline"
	"driftscope/internal/recording"
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
	Objects  int     // seen in half the frames at least
	Moving   int     // of these, those that move by themselves
	Template float64 // sd of an object's light, px
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
	t, err := newTaker()
	if err != nil {
		return c, err
	}
	defer t.estimator.Close()
	_, err = r.Each(ctx, nil, func(f *frame.Frame) error {
		var skip *pipeline.ErrSkip
		if err := t.look(ctx, f); err != nil && !errors.As(err, &skip) {
			return err
		}
		if t.frames == Frames {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return c, err
	}
	return t.count(), nil
}

// taker takes frames the way of a stream.
type taker struct {
	steps     []pipeline.Step
	encoder   *field.Encoder
	estimator *objects.Estimator
	z         latent.Latent
	estimate  latent.Estimate
	frames    int
	ended     []*latent.Track
}

func newTaker() (*taker, error) {
	encoder, err := field.NewEncoder(most)
	if err != nil {
		return nil, err
	}
	estimator, err := objects.New(objects.Config{})
	if err != nil {
		return nil, err
	}
	return &taker{steps: []pipeline.Step{field.NewPicture(), field.NewTemplate(frame.Template{})}, encoder: encoder, estimator: estimator}, nil
}

func (t *taker) look(ctx context.Context, f *frame.Frame) error {
	for _, s := range t.steps {
		if err := s.Apply(ctx, f); err != nil {
			return err
		}
	}
	if err := t.encoder.Encode(ctx, &t.z, f); err != nil {
		return err
	}
	t.z.Seq, t.z.Time, t.z.Trajectory = f.Seq, f.Time, f.Meta.Trajectory
	if err := t.estimator.Update(&t.estimate, &t.z); err != nil {
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
	c.Template = t.z.Spots.Template
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
