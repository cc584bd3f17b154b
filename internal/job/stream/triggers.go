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

// newWatcher makes the watcher of a stream's rules, nil without rules, and returns their names. latents is the number of the model's latents, 0 if
// unknown. l receives the processing times of frames; it may be nil.
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
	return &timed{rules: watcher, lead: l}, names, nil
}

// Numbers of recent times in a median. So many frames span one to five seconds of similar load. Pulses are rare, so fewer are used.
const (
	leadFrames = 101
	leadPins   = 31
)

// lead is the time from a frame's acquisition to the arrival of the pulse it triggers: a fixed time, or the measured median plus a fixed time.
// It measures from each frame's arrival to its triggers, and from each trigger to the write to the device. Any goroutine may call its methods,
// also on nil.
type lead struct {
	auto  bool
	fixed time.Duration

	mu           sync.Mutex
	frames, pins recent
}

// newLead makes a lead, or returns nil if none is set or no rule could use one.
func newLead(cfg config.Config, waits bool) (*lead, error) {
	auto, fixed, err := cfg.Online.ReadLead()
	switch {
	case err != nil:
		return nil, err
	case auto && waits:
		return nil, errors.New("online.lead: auto needs the clock, but this source's frames do not follow it: give a duration, such as 12ms; then the same frames give the same triggers")
	case !auto && fixed == 0 || len(cfg.Triggers) == 0:
		return nil, nil
	}
	return &lead{auto: auto, fixed: fixed, frames: recent{most: leadFrames}, pins: recent{most: leadPins}}, nil
}

// asked returns the function that an estimator calls for the lead; nil without a lead.
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

// frame records the time from a frame's arrival to its triggers.
func (l *lead) frame(took time.Duration) {
	if l == nil || !l.auto {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frames.add(took)
}

// pin records the time from a trigger to a device's write.
func (l *lead) pin(took time.Duration) {
	if l == nil || !l.auto {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pins.add(took)
}

// recent is a median of the latest times; 0 before the first.
type recent struct {
	most   int
	times  []time.Duration
	next   int // index of the next value, when the buffer is full
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

// timed are rules that report the processing time of frames to a lead.
type timed struct {
	rules *trigger.Rules
	lead  *lead
}

// Watch returns the rules' triggers.
func (w *timed) Watch(e *latent.Estimate) []*latent.Trigger {
	w.lead.frame(e.Latency)
	return w.rules.Watch(e)
}
