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
	c := &workerPool{steps: steps, encoders: encoders, preview: newPreview(viewer)}
	encoding := &clock{name: "encode"}
	for _, encoder := range encoders {
		c.lanes = append(c.lanes, &lane{tracker: t, pool: c, encoder: encoder, encoding: encoding})
	}
	for _, step := range steps {
		s := stage{name: step.Name, clock: &clock{name: step.Name}}
		if len(step.Steps) < len(c.lanes) {
			s.sequencer = newSequencer(first)
		}
		for i, l := range c.lanes {
			s.step = step.Steps[min(i, len(step.Steps)-1)]
			l.stages = append(l.stages, s)
		}
		c.clocks = append(c.clocks, s.clock)
	}
	c.clocks = append(c.clocks, encoding)
	return c
}

// start has the lanes take frames, until there are no more or another pool does. The last to leave closes what was theirs.
func (c *workerPool) start(t *tracker, p phases) {
	t.encoding.Store(&c.clocks)
	for _, l := range c.lanes {
		c.working.Go(func() { l.run(p) })
	}
	c.preview.open(p.track, t)
	t.pools.Go(func() {
		c.working.Wait()
		c.preview.end()
		if err := closeTrack(c.steps, c.encoders, c.preview.viewer); err != nil {
			t.fail(err)
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
