package pin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"driftscope/internal/flow/latent"
)

// Limits on waiting triggers and on options.
const (
	depth      = 64          // waiting triggers: one second of a rule that switches with every frame of a fast camera
	again      = time.Second // interval of attempts to open a device that is away
	leastPulse = 100 * time.Microsecond
	mostPulse  = 10 * time.Second
	leastLate  = time.Millisecond
	mostLate   = time.Minute
	maxRules   = 32 // limit of a stream
)

// Env holds the stream's resources for a sink of this package.
type Env struct {
	Stream string
	Rules  []string     // names of the stream's rules; nil if unknown
	Check  bool         // only check the options, and open no device: opening resets many boards
	Log    *slog.Logger // nil is silent
	// Wrote is called with the delay from a trigger to the device's acceptance, from any goroutine. It may be nil.
	Wrote func(t *latent.Trigger, took time.Duration)
}

// options holds the shared keys of all kinds.
type options struct {
	Pulse time.Duration `yaml:"pulse"` // duration of a pulse; 0: as long as the condition holds
	Late  time.Duration `yaml:"late"`  // longest wait of a beginning; after that it is dropped
}

// usual holds the default options: 100 ms is ten frames of a typical camera, and longer than a working device needs.
var usual = options{Late: 100 * time.Millisecond}

func (o *options) check() error {
	switch {
	case o.Pulse != 0 && (o.Pulse < leastPulse || o.Pulse > mostPulse):
		return fmt.Errorf("pulse: found %v, expected %v to %v, or 0s for as long as the condition holds", o.Pulse, leastPulse, mostPulse)
	case o.Late < leastLate || o.Late > mostLate:
		return fmt.Errorf("late: found %v, expected %v to %v", o.Late, leastLate, mostLate)
	}
	return nil
}

// checkRules refuses rules that the stream does not have, because their triggers would never occur. key names the option.
func checkRules(key string, rules []string, env Env) error {
	if len(rules) == 0 || len(rules) > maxRules {
		return fmt.Errorf("%s: found %d rules, expected 1 to %d: name the rules to write", key, len(rules), maxRules)
	}
	for _, rule := range rules {
		if env.Rules != nil && !slices.Contains(env.Rules, rule) {
			return fmt.Errorf("%s: found %.80q, expected the name of a rule of triggers: one of %v", key, rule, env.Rules)
		}
	}
	return nil
}

// named returns the rules of a map, sorted.
func named[T any](of map[string]T) []string { return slices.Sorted(maps.Keys(of)) }

// request asks the driver to write a rule's state.
type request struct {
	rule    string
	on      bool
	trigger *latent.Trigger // nil if no frame caused the request: a pulse ends, a device returns, or the run ends
	taken   time.Time
}

// device accepts the states of rules. Only one goroutine uses it, and no call takes longer than some hundred milliseconds.
type device interface {
	set(o *request) error
	Close() error
}

// Sink writes triggers to a device. Only Close waits for the device, within its context.
type Sink struct {
	options  options
	env      Env
	name     string // name of the device, for messages
	rules    []string
	requests chan request  // to the driver; closed by Close
	done     chan struct{} // closed by the driver

	mu   sync.Mutex
	lost int // triggers lost since the last Write
	why  error
}

// start opens the device and starts the driver, which calls open again whenever the device has failed.
func start(name string, rules []string, o options, env Env, open func() (device, error)) (*Sink, error) {
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	s := &Sink{options: o, env: env, name: name, rules: rules, requests: make(chan request, depth), done: make(chan struct{})}
	if env.Check {
		close(s.done)
		return s, nil
	}
	d, err := open()
	if err != nil {
		return nil, err
	}
	w := &driver{sink: s, open: open, device: d, shown: map[string]time.Time{}}
	go w.run()
	return s, nil
}

// Write queues a trigger of the sink's rules, and ignores other messages. Its error is a latent.NotTaken about earlier triggers, or about this trigger if too
// many are waiting.
func (s *Sink) Write(_ context.Context, m latent.Message) error {
	if t, is := m.(*latent.Trigger); is && slices.Contains(s.rules, t.Name) {
		select {
		case s.requests <- request{t.Name, t.On, t, time.Now()}:
		default:
			s.lose(fmt.Errorf("%s is too slow: %d triggers are waiting", s.name, depth))
		}
	}
	return s.losses()
}

// lose records a trigger that was not written.
func (s *Sink) lose(why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost++
	s.why = why
}

// losses returns the triggers lost since its last call, as an error.
func (s *Sink) losses() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == 0 {
		return nil
	}
	err := latent.NotTaken{Count: s.lost, Cause: s.why}
	s.lost, s.why = 0, nil
	return err
}

// Close writes the waiting triggers, turns every rule off, and closes the device. Its error reports lost triggers that Write has not reported.
func (s *Sink) Close(ctx context.Context) error {
	close(s.requests)
	select {
	case <-s.done:
	default: // an ended context leaves no time, so a finished driver has priority
		select {
		case <-s.done:
		case <-ctx.Done():
			return fmt.Errorf("%s: could not be turned off and closed in time: its outputs may still be on", s.name)
		}
	}
	if lost, is := errors.AsType[latent.NotTaken](s.losses()); is {
		return fmt.Errorf("%d triggers were not written: %w", lost.Count, lost.Cause)
	}
	return nil
}
