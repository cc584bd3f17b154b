package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"driftscope/internal/flow/latent"
)

// lane processes one frame at a time, from the camera's picture to the estimate. Lanes run in parallel. They share the steps that need all frames in order, and
// a sequencer orders the access. Each lane owns everything else.
type lane struct {
	tracker  *tracker
	pool     *workerPool // pool of this lane; the tracker may already use another
	stages   []stage
	encoder  Encoder
	encoding *clock
	seen     latent.Observation // result of the encoder, reused
	head     latent.Head        // head of seen
}

// stage is a step on a lane.
type stage struct {
	name      string
	clock     *clock
	step      Step
	sequencer *sequencer // nil if the step is this lane's own
}

// run processes frames until there are no more, or another pool takes over.
func (l *lane) run(p phases) {
	for {
		t, ok := l.tracker.next(p, l.pool)
		if !ok {
			return
		}
		l.track(p.track, t)
	}
}

// track passes one frame through every sequencer, and folds it into an estimate unless it is lost.
func (l *lane) track(ctx context.Context, t ticket) {
	defer l.tracker.flight.leave(t.size)
	stage, err := l.encode(ctx, t)
	l.tracker.last.enter(t.number)
	tracked := l.tracker.conclude(ctx, t.frame, l, stage, err)
	l.tracker.last.leave()
	if t.frame.Meta.Overview != nil {
		l.pool.preview.take(t.frame, l.seen, tracked)
		return
	}
	t.frame.Close()
}

// encode runs the steps and the encoder. After an error, where names the stage. A lost frame only passes the sequencers.
func (l *lane) encode(ctx context.Context, t ticket) (where string, err error) {
	f, err := t.frame, t.lost
	light := f.Light() // before any step changes it
	for i := range l.stages {
		s := &l.stages[i]
		if s.sequencer != nil {
			s.sequencer.enter(t.number)
		}
		if err == nil {
			start := time.Now()
			if err = s.step.Apply(ctx, f); err != nil {
				where = s.name
			}
			s.clock.since(start)
		}
		if s.sequencer != nil {
			s.sequencer.leave()
		}
	}
	if err != nil {
		return where, err
	}
	start := time.Now()
	if err := l.encoder.Encode(ctx, l.seen, f); err != nil {
		return "encoder", err
	}
	l.encoding.since(start)
	l.head = latent.Head{Seq: f.Seq, Time: f.Time, Trajectory: f.Meta.Trajectory, Light: light, Arrived: f.Meta.Arrived, Place: f.Meta.Place}
	if z := l.seen.Latent; z != nil {
		z.Centroid = append(z.Centroid[:0], f.Meta.Centroid...)
	}
	return "", nil
}

// workerPool is the set of lanes of one model, and owns its steps and encoders.
type workerPool struct {
	steps    []NamedStep
	encoders []Encoder
	preview  *preview
	lanes    []*lane
	clocks   []*clock
	working  sync.WaitGroup // lanes that have not left
}

// newWorkerPool distributes steps and encoders over lanes. first is the ticket of the pool's first frame.
func newWorkerPool(t *tracker, steps []NamedStep, encoders []Encoder, viewer Viewer, first uint64) *workerPool {
	w := &workerPool{steps: steps, encoders: encoders, preview: newPreview(viewer)}
	encoding := &clock{name: "encode"}
	for _, encoder := range encoders {
		w.lanes = append(w.lanes, &lane{tracker: t, pool: w, encoder: encoder, encoding: encoding, seen: encoder.Sees()})
	}
	for _, step := range steps {
		s := stage{name: step.Name, clock: &clock{name: step.Name}}
		if len(step.Steps) < len(w.lanes) {
			s.sequencer = newSequencer(first)
		}
		for i, l := range w.lanes {
			s.step = step.Steps[min(i, len(step.Steps)-1)]
			l.stages = append(l.stages, s)
		}
		w.clocks = append(w.clocks, s.clock)
	}
	w.clocks = append(w.clocks, encoding)
	return w
}

// start starts the lanes, which process frames until there are no more or another pool takes over. The pool then closes its steps, encoders and viewer.
func (w *workerPool) start(t *tracker, p phases) {
	t.runner.encoding.Store(&w.clocks)
	for _, l := range w.lanes {
		w.working.Go(func() { l.run(p) })
	}
	w.preview.open(p.track, t.runner)
	t.pools.Go(func() {
		w.working.Wait()
		w.preview.end()
		if err := closeTrack(w.steps, w.encoders, w.preview.viewer); err != nil {
			t.runner.fail(err)
		}
	})
}

// closeTrack closes the steps, the encoders and the viewer (if any) of a model.
func closeTrack(steps []NamedStep, encoders []Encoder, viewer Viewer) error {
	var errs []error
	check := func(stage string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: not closed cleanly: %w", stage, err))
		}
	}
	for _, s := range steps {
		for _, step := range s.Steps {
			check(s.Name, step.Close())
		}
	}
	for _, encoder := range encoders {
		check("encoder", encoder.Close())
	}
	if viewer != nil {
		check("viewer", viewer.Close())
	}
	return errors.Join(errs...)
}
