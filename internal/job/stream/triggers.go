package stream

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/flow/trigger"
)

// newWatcher makes the rules of a stream whose model has so many latents, 0 where that is not known, and gives their names. It is nil where
// there are none. l, nil for none, is told how long frames take.
func newWatcher(cfg config.Config, latents int, l *lead) (_ pipeline.Watcher, names []string, err error) {
	var rules []*trigger.Rule
	var errs []error
	for i, c := range cfg.Triggers {
		r, err := trigger.New(c.Kind, c.Decode, trigger.Env{Latents: latents, Field: cfg.Objects.Enabled, PixelUM: cfg.Online.PixelUM})
		if err != nil {
			errs = append(errs, fmt.Errorf("triggers[%d]: %w", i, err))
			continue
		}
		rules, names = append(rules, r), append(names, r.Name())
	}
	if err := errors.Join(errs...); err != nil || len(rules) == 0 {
		return nil, nil, err
	}
	watcher, err := trigger.Together(rules)
	if err != nil {
		return nil, nil, err
	}
	if l != nil {
		return &timed{rules: watcher, lead: l}, names, nil
	}
	return watcher, names, nil
}

// How many of the latest times a median is of: of frames one to five seconds, in which a machine's load is about the same; of pulses fewer, which are rare.
const (
	leadFrames = 101
	leadPins   = 31
)

// lead is how long after a frame's acquisition the pulse arrives that it sets off: a fixed time, or as long as it takes here in the median, and a fixed time
// more. What it takes is from the frame's arrival to its triggers, of every frame, and from a trigger to the device's being written, of every pulse. Its
// methods may be called from any goroutine, and on nil.
type lead struct {
	auto  bool
	fixed time.Duration

	mu           sync.Mutex
	frames, pins recent
}

// newLead is nil where no lead is set, or no rule could use one.
func newLead(cfg config.Config, waits bool) (*lead, error) {
	auto, fixed, err := cfg.Online.ReadLead()
	switch {
	case err != nil:
		return nil, err
	case auto && waits:
		return nil, errors.New("online.lead: auto is measured by the clock, and this source's frames do not come by it: give a duration, such as 12ms, and the same frames give the same triggers")
	case !auto && fixed == 0 || len(cfg.Triggers) == 0:
		return nil, nil
	}
	return &lead{auto: auto, fixed: fixed, frames: recent{most: leadFrames}, pins: recent{most: leadPins}}, nil
}

// asked is what an estimator asks; nil where there is no lead.
func (l *lead) asked() func() float64 {
	if l == nil {
		return nil
	}
	return l.seconds
}

func (l *lead) seconds() float64 {
	if !l.auto {
		return l.fixed.Seconds()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return (l.frames.median + l.pins.median + l.fixed).Seconds()
}

// frame notes the time from a frame's arrival to its triggers.
func (l *lead) frame(took time.Duration) {
	if l == nil || !l.auto {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frames.add(took)
}

// pin notes the time from a trigger to a device's being written.
func (l *lead) pin(took time.Duration) {
	if l == nil || !l.auto {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pins.add(took)
}

// recent is the median of the latest times; 0 before the first.
type recent struct {
	most   int
	times  []time.Duration
	next   int // where the next one goes, once there are as many as are kept
	room   []time.Duration
	median time.Duration
}

func (r *recent) add(took time.Duration) {
	if len(r.times) < r.most {
		r.times = append(r.times, took)
	} else {
		r.times[r.next] = took
		r.next = (r.next + 1) % r.most
	}
	r.room = append(r.room[:0], r.times...)
	slices.Sort(r.room)
	r.median = r.room[len(r.room)/2]
}

// timed are rules that tell a lead how long frames take.
type timed struct {
	rules *trigger.Rules
	lead  *lead
}

// Watch is the rules'.
func (w *timed) Watch(e *latent.Estimate) []*latent.Trigger {
	w.lead.frame(e.Latency)
	return w.rules.Watch(e)
}
