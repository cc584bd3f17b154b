package pin

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// TestMain fails the suite if a goroutine outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// turn returns a trigger of a rule.
func turn(rule string, on bool) *latent.Trigger {
	t := sinktest.Trigger(7)
	t.Name, t.On, t.Arrived = rule, on, time.Now()
	return t
}

// give writes triggers, and fails the test if one is lost.
func give(t *testing.T, s *Sink, triggers ...*latent.Trigger) {
	t.Helper()
	for _, trigger := range triggers {
		if err := s.Write(t.Context(), trigger); err != nil {
			t.Fatal(err)
		}
	}
}

// lostIn waits up to 5 s until the sink reports losses, and returns them.
func lostIn(t *testing.T, s *Sink) latent.NotTaken {
	t.Helper()
	for range 5000 {
		err := s.Write(t.Context(), sinktest.Health())
		if lost, is := errors.AsType[latent.NotTaken](err); is {
			return lost
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("nothing was lost within 5 s")
	return latent.NotTaken{}
}

// bench is a simulated device.
type bench struct {
	mu      sync.Mutex
	did     []string
	fails   error
	hang    chan struct{} // set waits until this is closed; nil never waits
	opened  int
	refuses error // error of open
}

var _ device = (*bench)(nil)

func (b *bench) open() (device, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.refuses != nil {
		return nil, b.refuses
	}
	b.opened++
	b.did = append(b.did, "open")
	return b, nil
}

func (b *bench) set(o *request) error {
	if b.hang != nil {
		<-b.hang
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fails != nil {
		return b.fails
	}
	b.did = append(b.did, o.rule+map[bool]string{true: "+", false: "-"}[o.on])
	return nil
}

func (b *bench) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.did = append(b.did, "close")
	return nil
}

// fail makes the device fail from now on; nil repairs it.
func (b *bench) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails, b.refuses = err, err
}

// done returns the calls of the device.
func (b *bench) done() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.did...)
}

// begun returns a sink with a simulated device. The test closes it.
func begun(t *testing.T, b *bench, o options, env Env) *Sink {
	t.Helper()
	s, err := start("a bench", []string{"edge", "well"}, o, env, b.open)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// closed ends a sink within 5 s.
func closed(t *testing.T, s *Sink) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return s.Close(ctx)
}
