package pipeline

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
)

// odd is a watcher with two triggers in every nth frame. It records the numbers of the frames that it gets.
type odd struct {
	n    uint64
	seen []uint64
}

func (o *odd) Watch(e *latent.Estimate) []*latent.Trigger {
	o.seen = append(o.seen, e.Latent.Seq)
	if e.Latent.Seq%o.n != 0 {
		return nil
	}
	return []*latent.Trigger{{Seq: e.Latent.Seq, Name: "a"}, {Seq: e.Latent.Seq, Name: "b"}}
}

// orderSink is a sink that records the order of triggers and estimates, such as "a3 b3 3".
type orderSink struct {
	sink
	order     []string
	latencies []time.Duration
}

func (l *orderSink) Write(ctx context.Context, m latent.Message) error {
	if err := l.sink.Write(ctx, m); err != nil {
		return err
	}
	switch m := m.(type) {
	case *latent.Trigger:
		l.order = append(l.order, fmt.Sprintf("%s%d", m.Name, m.Seq))
		l.latencies = append(l.latencies, m.Latency)
	case *latent.Estimate:
		l.order = append(l.order, fmt.Sprint(m.Latent.Seq))
	}
	return nil
}

// TestTriggersComeFirst: every sink gets a frame's triggers right before its estimate, in the order of the frames, for any number of lanes. The watcher does
// not get a frame that any stage refused.
func TestTriggersComeFirst(t *testing.T) {
	for _, lanes := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(30)
			g.step.errs = map[uint64]error{6: &ErrSkip{Cause: "bad", Err: errPaused}}
			g.encoder.delay = 2 * time.Millisecond
			g.estimator.errs = map[uint64]error{9: errPaused}
			stages := g.stages()
			watcher, sinks := &odd{n: 3}, []*orderSink{{}, {}}
			stages.Watcher = watcher
			stages.Sinks = []NamedSink{{Name: "a", Sink: sinks[0]}, {Name: "b", Sink: sinks[1]}}
			for range lanes - 1 {
				stages.Encoders = append(stages.Encoders, &encoder{delay: 2 * time.Millisecond})
			}
			summary, err := Run(t.Context(), stages, Options{})
			if err != nil || summary.Tracked != 28 {
				t.Fatalf("tracked %d: %v", summary.Tracked, err)
			}
			var want []string
			for i := range uint64(30) {
				switch {
				case i == 6 || i == 9:
					continue
				case i%3 == 0:
					want = append(want, fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i))
				}
				want = append(want, fmt.Sprint(i))
			}
			for _, s := range sinks {
				if !slices.Equal(s.order, want) {
					t.Errorf("%d lanes: found %v\nexpected %v", lanes, s.order, want)
				}
				if slices.Min(s.latencies) <= 0 {
					t.Errorf("%d lanes: latencies %v", lanes, s.latencies)
				}
			}
			if len(watcher.seen) != 28 || !slices.IsSorted(watcher.seen) || slices.Contains(watcher.seen, 6) {
				t.Errorf("%d lanes: watched %v", lanes, watcher.seen)
			}
		})
	}
}

// TestTriggersAreNotDropped: a sink that loses most of a live stream's estimates gets every trigger.
func TestTriggersAreNotDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(-1)
		g.source.live, g.source.interval = true, time.Millisecond
		g.options.Frames = 2000
		stages := g.stages()
		slow := &orderSink{sink: sink{delay: 10*time.Millisecond - time.Microsecond}}
		stages.Watcher, stages.Sinks = &odd{n: 50}, []NamedSink{{Name: "slow", Sink: slow}}
		summary, err := Run(t.Context(), stages, g.options)
		if err != nil || summary.Dropped["sink_slow"] < 1000 {
			t.Fatalf("dropped %v: %v", summary.Dropped, err)
		}
		if len(slow.latencies) != 80 {
			t.Errorf("%d triggers arrived, expected two in each of 40 frames", len(slow.latencies))
		}
	})
}

// TestLeastMissed checks which message a full queue drops.
func TestLeastMissed(t *testing.T) {
	trigger, event, health, estimate, view := queued{message: &latent.Trigger{}}, queued{message: &latent.Event{}}, queued{message: &latent.Health{}},
		queued{message: &latent.Estimate{}}, queued{message: &latent.View{}}
	for i, test := range []struct {
		waiting []queued
		want    int
	}{
		{[]queued{trigger, event, health, estimate, estimate}, 3},
		{[]queued{event, view, estimate, trigger}, 1},
		{[]queued{trigger, event, health, trigger}, 1},
		{[]queued{trigger, trigger, health}, 2},
		{[]queued{trigger, trigger}, 0},
	} {
		if got := dispensable(test.waiting); got != test.want {
			t.Errorf("case %d: gave up %d, expected %d", i, got, test.want)
		}
	}
}

// TestTriggersWhilePaused: the watcher gets nothing from a paused live stream, and continues after the pause.
func TestTriggersWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(-1)
		g.source.live, g.source.interval = true, time.Millisecond
		g.options.Frames = 300
		g.sinks[0].commands = make(chan latent.Command)
		watcher := &odd{n: 1000}
		stages := g.stages()
		stages.Watcher = watcher
		go func() {
			time.Sleep(100*time.Millisecond + time.Microsecond)
			ask(g, "pause", "")
			time.Sleep(100 * time.Millisecond)
			ask(g, "resume", "")
		}()
		summary, err := Run(t.Context(), stages, g.options)
		if err != nil || summary.Dropped["paused"] < 90 {
			t.Fatalf("dropped %v: %v", summary.Dropped, err)
		}
		if uint64(len(watcher.seen)) != summary.Tracked || slices.Contains(watcher.seen, 150) || watcher.seen[len(watcher.seen)-1] != 299 {
			t.Errorf("watched %v", watcher.seen)
		}
	})
}
