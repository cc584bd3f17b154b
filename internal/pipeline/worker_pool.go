package pipeline

import (
	"errors"
	"fmt"
	"sync"
)

// workerPool is the lanes of one model, with the steps and encoders that are theirs.
type workerPool struct {
	steps    []NamedStep
	encoders []Encoder
	preview  *preview
	lanes    []*lane
	clocks   []*clock
	working  sync.WaitGroup // lanes that have not left
}

// newWorkerPool divides steps and encoders among lanes. The first frame to come has the ticket first.
func newWorkerPool(t *tracker, steps []NamedStep, encoders []Encoder, viewer Viewer, first uint64) *workerPool {
	w := &workerPool{steps: steps, encoders: encoders, preview: newPreview(viewer)}
	encoding := &clock{name: "encode"}
	for _, encoder := range encoders {
		w.lanes = append(w.lanes, &lane{tracker: t, pool: w, encoder: encoder, encoding: encoding})
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

// start has the lanes take frames, until there are no more or another pool does. The last to leave closes what was theirs.
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

// closeTrack frees the steps, the encoders and the viewer, where there is one, of a model.
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
