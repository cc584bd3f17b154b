package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
)

// rig is a whole stream of test stages.
type rig struct {
	source    *source
	step      *step
	encoder   *encoder
	viewer    *viewer
	estimator *estimator
	sinks     []*sink
	options   Options
}

func newRig(n int) *rig {
	return &rig{source: &source{n: n}, step: &step{}, encoder: &encoder{}, viewer: &viewer{}, estimator: &estimator{}, sinks: []*sink{{}}}
}

func (g *rig) stages() Stages {
	s := Stages{Source: g.source, Steps: []NamedStep{{"look", []Step{g.step}}}, Encoders: []Encoder{g.encoder}, Viewer: g.viewer, Estimator: g.estimator}
	for i, sink := range g.sinks {
		s.Sinks = append(s.Sinks, NamedSink{Name: string(rune('a' + i)), Sink: sink, Commands: sink.commands})
	}
	return s
}

// run runs the rig in virtual time, and cancels it after the given duration unless that is 0. It checks what every run must satisfy: the frame counts add up,
// every stage is closed once, and each latent has the exact number of frames missing before it.
func (g *rig) run(t *testing.T, cancelled time.Duration) (summary Summary, err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if cancelled > 0 {
		time.AfterFunc(cancelled, cancel)
	}
	summary, err = Run(ctx, g.stages(), g.options)
	if lost := frameDrops(summary); summary.FramesIn != summary.Tracked+lost {
		t.Errorf("%d frames in, but %d tracked + %d dropped %v", summary.FramesIn, summary.Tracked, lost, summary.Dropped)
	}
	if n := len(g.estimator.seen); uint64(n) != summary.Tracked {
		t.Errorf("the estimator took %d latents, the summary says %d tracked", n, summary.Tracked)
	}
	next := uint64(0)
	for _, z := range g.estimator.seen {
		if z.Seq != next+z.Dropped {
			t.Errorf("latent %d says %d frames are missing before it, %d are", z.Seq, z.Dropped, z.Seq-next)
		}
		next = z.Seq + 1
	}
	closes := []int{g.source.opens, g.source.closes, g.step.closes, g.encoder.closes, g.viewer.closes, g.estimator.closes}
	var published int
	for _, s := range g.sinks {
		closes = append(closes, s.closes)
		published += len(s.estimates) + len(s.events) + len(s.healths) + len(s.views)
	}
	for i, n := range closes {
		if n != 1 {
			t.Errorf("stage %d was opened or closed %d times, expected once (%v)", i, n, closes)
		}
	}
	if summary.Published != uint64(published) {
		t.Errorf("the summary says %d messages were published, the sinks have %d", summary.Published, published)
	}
	return summary, err
}

func TestFileBlocksAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(1000)
		g.sinks = []*sink{{}, {delay: 3 * time.Millisecond}} // 1000 messages of 3 ms each: far more than the queue can absorb
		g.options.ViewEvery = 100 * time.Millisecond
		summary, err := g.run(t, 0)
		if err != nil {
			t.Fatal(err)
		}
		if summary.Tracked != 1000 || len(summary.Dropped) != 0 {
			t.Errorf("tracked %d, dropped %v; expected 1000 and none", summary.Tracked, summary.Dropped)
		}
		for i, s := range g.sinks {
			if len(s.estimates) != 1000 {
				t.Fatalf("sink %d has %d estimates, expected 1000", i, len(s.estimates))
			}
			for n, e := range s.estimates {
				if e.Latent.Seq != uint64(n) || e.Latent.Mean[0] != float64(n) || !e.Latent.Time.Equal(epoch.Add(time.Duration(n)*time.Millisecond)) {
					t.Fatalf("sink %d, message %d: found %+v", i, n, e.Latent)
				}
			}
			if len(s.views) < 10 { // 3 s at one view per 100 ms, minus the time of blocking
				t.Errorf("sink %d has %d views", i, len(s.views))
			}
			if last := s.healths[len(s.healths)-1]; last.State != stopped || last.Tracked != 1000 || len(s.healths) < 2 {
				t.Errorf("sink %d: last of %d healths is %+v", i, len(s.healths), last)
			}
			if s.count("stream_ended") != 1 {
				t.Errorf("sink %d was not told the end: %v", i, s.events)
			}
		}
		names := ""
		for _, stage := range summary.Health.Stages {
			names += stage.Name + " "
			if stage.P50MS > stage.P95MS || stage.P95MS > stage.P99MS {
				t.Errorf("quantiles out of order: %+v", stage)
			}
		}
		if names != "read look encode estimate publish " {
			t.Errorf("stages are %q", names)
		}
	})
}

func TestLiveDropsOldestFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(-1)
		g.source.live, g.source.interval = true, time.Millisecond
		g.encoder.delay = 10*time.Millisecond - time.Microsecond // no two timers fire at the same time
		g.options.Frames = 1000
		summary, err := g.run(t, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := summary.Dropped["queue_full"]; summary.FramesIn != 1000 || d < 890 || d > 910 {
			t.Errorf("%d frames in, %d dropped; at a tenth of the rate expected about 900 of 1000", summary.FramesIn, d)
		}
		if n := g.sinks[0].count("queue_full"); n != summary.Dropped["queue_full"] {
			t.Errorf("events tell of %d drops, there were %d", n, summary.Dropped["queue_full"])
		}
		if n := len(g.sinks[0].events); n > 5 { // one second of drops: the first at once, then one per second, and the last at the end
			t.Errorf("%d events for one second of drops: %v", n, g.sinks[0].events)
		}
	})
}

func TestLiveSlowSinkLosesOldestEstimates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(-1)
		g.source.live, g.source.interval = true, time.Millisecond
		g.options.Frames = 2000
		g.sinks = []*sink{{}, {delay: 10*time.Millisecond - time.Microsecond}}
		g.step.notice = map[uint64]string{1000: "moved"}
		summary, err := g.run(t, 0)
		if err != nil {
			t.Fatal(err)
		}
		if summary.Tracked != 2000 || len(g.sinks[0].estimates) != 2000 {
			t.Errorf("tracked %d, the fast sink has %d; a slow sink must not hold either up", summary.Tracked, len(g.sinks[0].estimates))
		}
		slow := g.sinks[1]
		if got := uint64(len(slow.estimates)) + summary.Dropped["sink_b"]; got != 2000 {
			t.Errorf("%d written + %d dropped, expected 2000 together", len(slow.estimates), summary.Dropped["sink_b"])
		}
		if slow.count("moved") != 1 || slow.healths[len(slow.healths)-1].State != stopped {
			t.Errorf("the slow sink lost what is not an estimate: %v", slow.events)
		}
		if last := slow.estimates[len(slow.estimates)-1].Latent.Seq; last != 1999 {
			t.Errorf("the slow sink ends at frame %d: the newest should have been kept", last)
		}
	})
}

func TestSinkFailureEndsEndlessLiveRunAtOnce(t *testing.T) {
	for _, live := range []bool{true, false} {
		t.Run(fmt.Sprintf("live=%v", live), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(-1)
				g.source.live, g.source.interval = live, time.Millisecond
				full := errors.New("disk full")
				g.sinks = []*sink{{}, {failAt: 50, err: full}}
				summary, err := g.run(t, 0)
				if !errors.Is(err, full) || !strings.Contains(err.Error(), "sink b: ") {
					t.Fatalf("found error %v", err)
				}
				if summary.Duration > time.Second || summary.FramesIn < 50 {
					t.Errorf("ended after %v with %d frames; expected at once after the 50th", summary.Duration, summary.FramesIn)
				}
				if healthy := g.sinks[0]; uint64(len(healthy.estimates)) != summary.Tracked || healthy.count("stream_failed") != 1 {
					t.Errorf("the other sink has %d of %d estimates and events %v", len(healthy.estimates), summary.Tracked, healthy.events)
				}
				if lost := uint64(len(g.sinks[1].estimates)) + summary.Dropped["sink_b"]; lost < summary.Tracked {
					t.Errorf("sink b: %d of %d messages accounted for", lost, summary.Tracked)
				}
			})
		})
	}
}

func TestCancelDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(-1)
		g.source.interval, g.encoder.delay = time.Millisecond, 20*time.Millisecond
		summary, err := g.run(t, 505*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if len(summary.Dropped) != 0 || uint64(len(g.sinks[0].estimates)) != summary.Tracked || summary.Tracked < 25 {
			t.Errorf("tracked %d, published %d, dropped %v; the queue should have been drained", summary.Tracked, len(g.sinks[0].estimates), summary.Dropped)
		}
		if over := summary.Duration - 505*time.Millisecond; over > 100*time.Millisecond { // three or four frames of 20 ms
			t.Errorf("draining took %v", over)
		}
	})
}

func TestGraceCutsOffSlowStages(t *testing.T) {
	t.Run("sink", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(-1)
			g.source.interval = time.Millisecond
			g.sinks = []*sink{{}, {delay: time.Second}}
			summary, err := g.run(t, 5*time.Second)
			if err == nil || !strings.Contains(err.Error(), "sink b") {
				t.Errorf("messages were lost, found error %v", err)
			}
			if over := summary.Duration - 5*time.Second; over < 3*time.Second || over > 3*time.Second+abandon {
				t.Errorf("took %v after the end, expected the grace of 3 s", over)
			}
			if lost := summary.Dropped["sink_b"]; lost < 200 {
				t.Errorf("sink b lost %d messages, expected most of its queue", lost)
			}
			if missing := summary.Tracked - uint64(len(g.sinks[0].estimates)); missing != 0 {
				t.Errorf("the fast sink misses %d", missing)
			}
		})
	})
	t.Run("encoder", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(-1)
			g.source.interval, g.encoder.delay = time.Millisecond, 2*time.Second
			summary, err := g.run(t, 3*time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if summary.Dropped["unfinished"] == 0 || summary.Duration > 7*time.Second {
				t.Errorf("dropped %v after %v, expected unfinished frames after 6 s", summary.Dropped, summary.Duration)
			}
		})
	})
}

// TestSourceThatNeverReturnsIsNamedAndLeft: the other stages still end in order, and the source is closed if it returns later.
func TestSourceThatNeverReturnsIsNamedAndLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(-1)
		g.source.hang = make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		summary, err := Run(ctx, g.stages(), Options{})
		if want := "source did not stop within 2s: the run ends without it"; err == nil || err.Error() != want {
			t.Errorf("found error %v, expected %s", err, want)
		}
		if summary.Duration != 3*time.Second {
			t.Errorf("left after %v, expected 1 s + two thirds of the grace of 3 s", summary.Duration)
		}
		if g.sinks[0].count("stream_failed") != 1 || g.sinks[0].closes != 1 || g.estimator.closes != 1 {
			t.Errorf("the other stages did not end in order: %v", g.sinks[0].events)
		}
		close(g.source.hang)
		synctest.Wait()
		if g.source.closes != 1 {
			t.Errorf("the source was closed %d times once it had returned", g.source.closes)
		}
	})
}

func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name    string
		set     func(*rig)
		want    string
		tracked uint64
	}{
		{"open", func(g *rig) { g.source.openErr = broken }, "source: broken", 0},
		{"read", func(g *rig) { g.source.errs = map[int]error{5: broken} }, "source: after frame 4: broken", 5},
		{"source lost", func(g *rig) { g.source.errs = map[int]error{5: fmt.Errorf("usb: %w", ErrNotConnected)} }, "source lost after frame 4: usb: source is not connected: check the connection and start again", 5},
		{"source close", func(g *rig) { g.source.closeErr = broken }, "source: not closed cleanly: broken", 10},
		{"step", func(g *rig) { g.step.errs = map[uint64]error{5: broken} }, "frame 5: look: broken", 5},
		{"encoder", func(g *rig) { g.encoder.errs = map[uint64]error{5: broken} }, "frame 5: encoder: broken", 5},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(10)
				test.set(g)
				summary, err := g.run(t, 0)
				if err == nil || err.Error() != test.want {
					t.Errorf("found error %v, expected %q", err, test.want)
				}
				if summary.Tracked != test.tracked || len(g.sinks[0].estimates) != int(test.tracked) {
					t.Errorf("tracked %d, published %d, expected %d", summary.Tracked, len(g.sinks[0].estimates), test.tracked)
				}
				if g.sinks[0].count("stream_failed") != 1 {
					t.Errorf("the sink was not told: %v", g.sinks[0].events)
				}
			})
		})
	}
}

func TestUndelivered(t *testing.T) {
	t.Run("file waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(10)
			g.sinks[0].failAt, g.sinks[0].err, g.sinks[0].refuse = 5, latent.Undelivered{Cause: errServerAway}, 3
			// The sink refuses all messages after the retried one succeeded: only the cancellation ends the run.
			summary, err := g.run(t, 10*time.Second)
			if !errors.Is(err, errGrace) {
				t.Errorf("found error %v", err)
			}
			if len(g.sinks[0].estimates) != 5 || summary.Dropped["sink_a"] == 0 {
				t.Errorf("%d estimates written, dropped %v; expected the fifth by trying again, then losses at the end", len(g.sinks[0].estimates), summary.Dropped)
			}
		})
	})
	t.Run("live drops", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(100)
			g.source.live, g.source.interval = true, time.Millisecond
			g.sinks[0].failAt, g.sinks[0].err = 50, latent.Undelivered{Cause: errServerAway}
			summary, err := g.run(t, 0)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(g.sinks[0].estimates); n != 49 || summary.Dropped["sink_a"] < 51 || summary.Tracked != 100 {
				t.Errorf("%d written, %v dropped, %d tracked", n, summary.Dropped, summary.Tracked)
			}
		})
	})
}

// TestLost: a sink may report that it lost messages which it had accepted. The loss is counted and reported once, the current message still counts as written,
// and nothing waits or retries, in both modes.
func TestLost(t *testing.T) {
	for _, live := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(100)
			g.source.live, g.source.interval, g.sinks[0].lostAt = live, time.Millisecond, 50
			summary, err := g.run(t, 0)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(g.sinks[0].estimates); n != 100 || summary.Dropped["sink_a"] != 3 || g.sinks[0].count("sink_a") != 3 {
				t.Errorf("live %v: %d written, %v dropped, told %v; expected all written and 3 dropped and told", live, n, summary.Dropped, g.sinks[0].events)
			}
		})
	}
}

// TestLostBefore: the run counts and reports a message that the sink lost before the run.
func TestLostBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(10)
		stages := g.stages()
		stages.Sinks[0].Lost = latent.Undelivered{Cause: errServerAway}
		summary, err := Run(t.Context(), stages, g.options)
		if err != nil || summary.Dropped["sink_a"] != 1 || summary.Tracked != 10 {
			t.Errorf("%v: %+v", err, summary)
		}
		if !slices.ContainsFunc(g.sinks[0].events, func(e latent.Event) bool { return e.Code == "sink_a" && e.Count == 1 }) {
			t.Errorf("the loss is not told: %v", g.sinks[0].events)
		}
	})
}

// TestCut: a message that was delivered without some of its parts is counted and reported, but not retried.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(10)
		g.sinks[0].cutAt = 5
		summary, err := g.run(t, 0)
		if err != nil || summary.Dropped["sink_a_cut"] != 1 || summary.Dropped["sink_a"] != 0 || g.sinks[0].count("sink_a_cut") != 1 {
			t.Errorf("%v; dropped %v, told %d times", err, summary.Dropped, g.sinks[0].count("sink_a_cut"))
		}
		if n := len(g.sinks[0].estimates); n != 10 {
			t.Errorf("%d estimates of 10", n)
		}
	})
}

// TestAccount runs streams with random faults. Whatever happens and whenever a stream ends, the checks of run hold, and a file loses only the frames that the
// test makes it lose.
func TestAccount(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 1))
				delay := func() time.Duration {
					return []time.Duration{0, 50 * time.Microsecond, time.Millisecond, 20 * time.Millisecond}[rng.IntN(4)]
				}
				g := newRig(rng.IntN(400))
				g.source.live, g.source.interval = rng.IntN(2) == 0, delay()
				g.encoder.delay = delay()
				g.sinks = []*sink{{delay: delay()}, {delay: delay()}}
				g.options.Queue = rng.IntN(4)
				g.source.errs, g.source.lost = map[int]error{}, map[int]uint64{}
				g.step.errs, g.estimator.errs = map[uint64]error{}, map[uint64]error{}
				for range rng.IntN(30) {
					g.source.errs[rng.IntN(400)] = &ErrSkip{Cause: "torn", Err: errors.New("torn")}
					g.source.lost[rng.IntN(400)] = 1 + rng.Uint64N(5)
					g.step.errs[rng.Uint64N(400)] = &ErrSkip{Cause: "blank", Err: errors.New("blank")}
					g.estimator.errs[rng.Uint64N(400)] = errors.New("not finite")
				}
				for i := range g.source.errs {
					delete(g.source.lost, i) // a frame that is read reports the frames lost before it
				}
				var cancelled time.Duration
				switch rng.IntN(4) {
				case 0:
					cancelled = 1 + time.Duration(rng.Int64N(5e8))
				case 1:
					g.sinks[1].failAt, g.sinks[1].err = 1+rng.IntN(200), errors.New("disk full")
				case 2:
					g.encoder.errs = map[uint64]error{rng.Uint64N(200): errors.New("broken")}
				}
				summary, err := g.run(t, cancelled)
				if err == nil && !g.source.live && summary.Dropped["queue_full"]+summary.Dropped["unfinished"]+summary.Dropped["sink_a"] != 0 {
					t.Errorf("a file lost %v", summary.Dropped)
				}
			})
		})
	}
}

// TestTrackAllocates: tracking allocates nothing after its first frames, so the garbage collector does not delay a camera.
func TestTrackAllocates(t *testing.T) {
	g := newRig(0)
	r := newRunner(g.stages(), Options{})
	tr := newTracker(r)
	l, w := tr.pool.lanes[0], r.writers[0]
	f, err := (&source{n: 1}).Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	one := func() {
		given := tr.issue(phases{t.Context(), t.Context(), t.Context()}, f)
		if _, err := l.encode(t.Context(), given); err != nil {
			t.Fatal(err)
		}
		tr.last.enter(given.number)
		defer tr.last.leave()
		if _, err := tr.fold(f, l); err != nil {
			t.Fatal(err)
		}
		g.estimator.seen = g.estimator.seen[:0]
		r.publish(t.Context(), &tr.estimate, f.Meta.Arrived)
		m, _, _ := w.queue.take()
		w.release(m)
	}
	one()
	// The test's estimator allocates twice per frame, for the copy that it keeps.
	if n := testing.AllocsPerRun(100, one); n > 2 {
		t.Errorf("%v allocations a frame", n)
	}
}

// TestAlarmsAreToldAndCounted: the estimator's alarms go to every sink after the frame's estimate. Only the beginnings of alarms are counted.
func TestAlarmsAreToldAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(100)
		g.sinks = []*sink{{}, {}}
		begins := latent.Event{Seq: 40, Level: latent.Warning, Code: "object_lost", Text: "look for it", Count: 1}
		ends := latent.Event{Seq: 60, Level: latent.Info, Code: "object_lost", Text: "over", Count: 1}
		other := latent.Event{Seq: 60, Level: latent.Warning, Code: "bleached", Text: "more light", Count: 1}
		stages := g.stages()
		stages.Estimator = &watchful{rings: map[uint64][]latent.Event{40: {begins}, 60: {ends, other}}}
		summary, err := Run(t.Context(), stages, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range g.sinks {
			if want := []latent.Event{begins, ends, other}; !slices.Equal(s.events[:len(s.events)-1], want) { // the last is the stream's end
				t.Errorf("sink %d was told %v, expected %v", i, s.events, want)
			}
			last := s.healths[len(s.healths)-1]
			if len(last.Alarms) != 2 || last.Alarms["object_lost"] != 1 || last.Alarms["bleached"] != 1 {
				t.Errorf("sink %d: alarms %v, expected one of each", i, last.Alarms)
			}
		}
		if summary.Health.Alarms["object_lost"] != 1 {
			t.Errorf("the summary has alarms %v", summary.Health.Alarms)
		}
	})
}
