package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
)

// counting is an encoder that records the largest number of Mats alive at once; it can count them only with -tags matprofile.
type counting struct {
	*encoder
	most int
}

func (c *counting) Encode(ctx context.Context, dst latent.Observation, f *frame.Frame) error {
	c.most = max(c.most, suite.OpenMats())
	return c.encoder.Encode(ctx, dst, f)
}

// TestTwiceTheRate: frames arrive twice as fast as they can be tracked. A frame waits for the frame being tracked and for the frames before it in the queue, so
// its latency is at most depth + 1 times the duration of tracking one frame. Every untracked frame is counted.
func TestTwiceTheRate(t *testing.T) {
	const frames = 2000
	for _, depth := range []int{1, 2, 8} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(frames)
				g.source.live, g.source.interval = true, 5*time.Millisecond
				g.encoder.delay = 10*time.Millisecond - time.Microsecond // no two timers fire at the same time
				g.options.Queue = depth
				stages := g.stages()
				counted := &counting{encoder: g.encoder}
				stages.Encoders = []Encoder{counted}
				summary, err := Run(t.Context(), stages, g.options)
				if err != nil {
					t.Fatal(err)
				}
				var dropped uint64
				for i, e := range g.sinks[0].estimates {
					dropped += e.Latent.Dropped
					if e.Latent.Seq != uint64(i)+dropped {
						t.Fatalf("the %d. latent is frame %d, %d are said to be dropped", i, e.Latent.Seq, dropped)
					}
					if limit := time.Duration(depth+1) * g.encoder.delay; e.Latency > limit {
						t.Fatalf("frame %d had a latency of %v, expected at most %v", e.Latent.Seq, e.Latency, limit)
					}
				}
				if summary.FramesIn != frames || summary.Dropped["queue_full"] != dropped || summary.Tracked+dropped != frames {
					t.Errorf("%d frames in, %d tracked, dropped %v; the latents say %d", summary.FramesIn, summary.Tracked, summary.Dropped, dropped)
				}
				if want := uint64(frames/2 + depth + 1); summary.Tracked > want || summary.Tracked < frames/2 {
					t.Errorf("tracked %d, expected half of %d and the queue", summary.Tracked, frames)
				}
				if counted.most > depth+2 { // the queue, the frame being tracked and the frame being read
					t.Errorf("%d frames in memory with a queue of %d", counted.most, depth)
				}
			})
		})
	}
}

// TestLossless: a live source loses nothing while its queue has room. A full queue fails the run with a clear error.
func TestLossless(t *testing.T) {
	for _, test := range []struct {
		queue   int
		tracked uint64
		err     string
	}{
		{0, 400, ""}, // the backlog is 200 in the end
		{201, 400, ""},
		{20, 41, "mode lossless: frame 41 arrived while the queue was full, with 20 frames waiting: tracking is slower than the source: use a smaller roi or a lower frame rate, a longer queue for a short burst, or mode latest"},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(400)
			g.source.live, g.source.interval = true, time.Millisecond
			g.encoder.delay = 2*time.Millisecond - time.Nanosecond
			g.options.Mode, g.options.Queue = Lossless, test.queue
			summary, err := g.run(t, 0)
			if got := fmt.Sprint(err); err == nil && test.err != "" || err != nil && got != test.err {
				t.Errorf("queue %d: found %v, expected %q", test.queue, err, test.err)
			}
			if summary.Tracked != test.tracked || summary.FramesIn-summary.Tracked != uint64(min(len(test.err), 1)) || frameDrops(summary) != summary.Dropped["queue_full"] {
				t.Errorf("queue %d: %d frames in, %d tracked, dropped %v", test.queue, summary.FramesIn, summary.Tracked, summary.Dropped)
			}
		})
	}
}

// TestLosslessSlowSink: tracking waits for a sink that is too slow, so the sink receives all estimates without a gap.
func TestLosslessSlowSink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(-1)
		g.source.live, g.source.interval = true, time.Millisecond
		g.sinks = []*sink{{}, {delay: 10 * time.Millisecond}}
		g.options.Mode, g.options.Grace = Lossless, 30*time.Second
		summary, err := g.run(t, 0)
		if err == nil || summary.Dropped["queue_full"] != 1 || len(summary.Dropped) != 1 {
			t.Errorf("dropped %v: %v; expected the one frame for which there was no room", summary.Dropped, err)
		}
		if n := uint64(len(g.sinks[1].estimates)); n != summary.Tracked || n < sinkDepth+deep {
			t.Errorf("the sink has %d of %d estimates", n, summary.Tracked)
		}
	})
}

func TestLatestOfAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(10)
		g.options.Mode = Latest
		if summary, err := g.run(t, 0); !errors.Is(err, ErrMode) || summary.FramesIn != 0 {
			t.Errorf("%d frames in: %v", summary.FramesIn, err)
		}
	})
}

// TestQueueFitsMemory: the larger the frames, the fewer may wait.
func TestQueueFitsMemory(t *testing.T) {
	g := newRig(0)
	g.source.live = true
	r := newRunner(g.stages(), Options{Mode: Lossless})
	if err := r.settle(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ size, depth int }{{0, 256}, {4, 256}, {4 << 20, 256}, {4<<20 + 1, 255}, {256 << 20, 4}, {2 << 30, 1}, {4, 256}} {
		if r.fit(test.size); r.frames.depth != test.depth {
			t.Errorf("%d bytes: %d frames may wait, expected %d", test.size, r.frames.depth, test.depth)
		}
	}
}

// TestQueueUnasked: with the default depth, only one large frame may wait.
func TestQueueUnasked(t *testing.T) {
	r := newRunner(newRig(0).stages(), Options{})
	if err := r.settle(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ size, depth int }{{4, 2}, {32 << 20, 2}, {32<<20 + 1, 1}, {1 << 30, 1}} {
		if r.fit(test.size); r.frames.depth != test.depth {
			t.Errorf("%d bytes: %d frames may wait, expected %d", test.size, r.frames.depth, test.depth)
		}
	}
}

// TestFlight: small frames pass the lanes in parallel, large ones one at a time, and a frame above the limit alone.
func TestFlight(t *testing.T) {
	for _, test := range []struct{ size, most int }{{1 << 20, 8}, {maxFlight / 2, 2}, {maxFlight/2 + 1, 1}, {2 * maxFlight, 1}} {
		synctest.Test(t, func(t *testing.T) {
			var f flight
			var now, most atomic.Int64
			for range 8 {
				go func() {
					f.enter(test.size)
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Second)
					now.Add(-1)
					f.leave(test.size)
				}()
			}
			time.Sleep(time.Minute)
			f.mu.Lock()
			defer f.mu.Unlock()
			if most.Load() != int64(test.most) || f.bytes != 0 {
				t.Errorf("%d bytes: %d frames at once, expected %d; %d bytes are left", test.size, most.Load(), test.most, f.bytes)
			}
		})
	}
}

// TestLosslessAway: a sink that accepts nothing blocks tracking, but not reading. The run reports the full queue, and publishes the events of the source.
func TestLosslessAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(-1)
		g.source.live, g.source.interval = true, time.Millisecond
		g.source.lost = map[int]uint64{300: 5} // while tracking is held up
		g.sinks = []*sink{{}, {failAt: 1, err: latent.Undelivered{Cause: errServerAway}}}
		g.options.Mode = Lossless
		summary, err := g.run(t, 0)
		if !strings.HasPrefix(fmt.Sprint(err), "mode lossless: frame ") || summary.Dropped["dropped_by_source"] != 5 {
			t.Errorf("dropped %v: %v; expected that there is no room", summary.Dropped, err)
		}
	})
}

// TestLosslessPassing: Health and views are soon obsolete, so nothing waits for one that could not be delivered.
func TestLosslessPassing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(5000)
		g.source.live, g.source.interval = true, time.Millisecond
		g.sinks = []*sink{{deaf: true}}
		g.options.Mode = Lossless
		summary, err := g.run(t, 0)
		if n := len(g.sinks[0].estimates); err != nil || n != 5000 || summary.Dropped["sink_a"] < 5 {
			t.Errorf("%d estimates of 5000, dropped %v: %v", n, summary.Dropped, err)
		}
	})
}

// telling is an estimator with events for some frames, and at the end.
type telling struct {
	estimator
	of   map[uint64]int // number of events, by frame
	last int
	told int
	list []latent.Message // lent, and reused
}

func (e *telling) tell(n int) []latent.Message {
	clear(e.list)
	e.list = e.list[:0]
	for range n {
		e.list = append(e.list, &latent.Event{Code: "told", Seq: uint64(e.told), Count: 1})
		e.told++
	}
	return e.list
}

func (e *telling) Reports() []latent.Message {
	return e.tell(e.of[e.seen[len(e.seen)-1].Seq])
}

func (e *telling) Last() []latent.Message { return e.tell(e.last) }

// TestBurst: one frame has more messages than a sink's queue has entries. All arrive one by one and in order, even from a camera that does not wait for the
// sink; there, estimates are lost instead. If the sink ends during a burst, every message that it did not write is counted.
func TestBurst(t *testing.T) {
	const burst = 3 * sinkDepth
	told := func(s *sink) (seqs []uint64) {
		for _, e := range s.events {
			if e.Code == "told" {
				seqs = append(seqs, e.Seq)
			}
		}
		return seqs
	}
	for _, mode := range []Mode{Latest, Lossless} {
		synctest.Test(t, func(t *testing.T) {
			g := newRig(400)
			g.source.live, g.source.interval = mode == Latest, time.Millisecond
			g.options.Mode, g.options.Grace = mode, 30*time.Second
			g.sinks = []*sink{{}, {delay: 3 * time.Millisecond}}
			e := &telling{of: map[uint64]int{3: burst, 4: 1, 200: burst}, last: burst}
			stages := g.stages()
			stages.Estimator = e
			if _, err := Run(t.Context(), stages, g.options); err != nil {
				t.Fatal(err)
			}
			for i, s := range g.sinks {
				seqs := told(s)
				if len(seqs) != 3*burst+1 || !slices.IsSorted(seqs) {
					t.Errorf("mode %v, sink %d: %d of %d were told, in order: %v", mode, i, len(seqs), 3*burst+1, slices.IsSorted(seqs))
				}
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		g := newRig(10)
		g.sinks = []*sink{{}, {failAt: 100, err: errors.New("broken")}}
		e := &telling{of: map[uint64]int{3: burst}}
		stages := g.stages()
		stages.Estimator = e
		summary, err := Run(t.Context(), stages, g.options)
		wrote := len(told(g.sinks[1]))
		if lost := summary.Dropped[sinkCause+"b"]; err == nil || wrote == 0 || lost < uint64(burst-wrote) {
			t.Errorf("%d of %d were written and %v are lost, %v", wrote, burst, summary.Dropped, err)
		}
	})
}
