package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// habit is the behaviour of a camera while its cable is unplugged.
type habit int

const (
	refuses habit = iota // Read and Open return an error at once
	latched              // Read returns an error at once, Open ignores its context until the cable is back
	silent               // Read and Open wait for their context
	deaf                 // Open works, Read waits for its context
	stuck                // Read and Open ignore their context until the cable is back
)

// outage is a time while the cable is unplugged, counted from the start of the test.
type outage struct{ from, to time.Duration }

// camera returns a frame per interval of the test's clock, numbered from 0 at every Open. skips are the indices of Reads, from 0, whose frame is torn.
type camera struct {
	interval time.Duration
	habit    habit
	outages  []outage
	skips    map[int]bool

	start         time.Time
	seq           uint64
	reads         int
	opens, closes int
}

func (c *camera) Info() Info   { return Info{Live: true} }
func (c *camera) Close() error { c.closes++; return nil }

func (c *camera) Open(ctx context.Context) error {
	if c.opens != c.closes {
		panic("opened while it is open")
	}
	c.opens++
	c.seq = 0
	if c.opens == 1 {
		c.start = time.Now()
	}
	if back := c.out(time.Now()); back > 0 && c.habit != deaf {
		if c.habit == latched {
			time.Sleep(back)
		}
		return c.suffer(ctx, back)
	}
	return nil
}

func (c *camera) Read(ctx context.Context) (*frame.Frame, error) {
	since := time.Since(c.start)
	next := c.start.Add(since - since%c.interval + c.interval)
	select {
	case <-time.After(time.Until(next)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if back := c.out(next); back > 0 {
		if err := c.suffer(ctx, back); c.habit != stuck {
			return nil, err
		}
		next = next.Add((back + c.interval - 1) / c.interval * c.interval) // the next frame after the outage
	}
	seq := c.seq
	c.seq++
	c.reads++
	if c.skips[c.reads-1] {
		return nil, &ErrSkip{Cause: "torn", Err: errors.New("torn")}
	}
	return frame.New(seq, next, frame.Meta{}, gocv.NewMatWithSize(2, 2, gocv.MatTypeCV8U)), nil
}

// out returns how long the cable stays unplugged after t; 0 if it is plugged in.
func (c *camera) out(t time.Time) time.Duration {
	for _, o := range c.outages {
		if at := t.Sub(c.start); at >= o.from && at < o.to {
			return o.to - at
		}
	}
	return 0
}

// suffer does what a call does while the cable is unplugged.
func (c *camera) suffer(ctx context.Context, back time.Duration) error {
	switch c.habit {
	case silent, deaf:
		<-ctx.Done()
		return ctx.Err()
	case stuck:
		time.Sleep(back)
	}
	return fmt.Errorf("usb 3: %w", ErrNotConnected)
}

// observe runs the camera's stream for d, and checks what must hold for every stream: each Open has one Close, the frame numbers increase with gaps that
// dropped_before explains, and the times are the camera's.
func (c *camera) observe(t *testing.T, d time.Duration, o Options) (*rig, Summary, error) {
	t.Helper()
	g := newRig(0)
	stages := g.stages()
	stages.Source = c
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	summary, err := Run(ctx, stages, o)
	synctest.Wait()
	if c.opens != c.closes {
		t.Errorf("opened %d times, closed %d times", c.opens, c.closes)
	}
	if lost := frameDrops(summary); summary.FramesIn != summary.Tracked+lost {
		t.Errorf("%d frames in, but %d tracked + %d dropped %v", summary.FramesIn, summary.Tracked, lost, summary.Dropped)
	}
	next, before := uint64(0), time.Time{}
	for _, z := range g.estimator.seen {
		if z.Seq != next+z.Dropped {
			t.Fatalf("latent %d says %d frames are missing before it, %d are", z.Seq, z.Dropped, z.Seq-next)
		}
		if !z.Time.After(before) || z.Time.Sub(c.start)%c.interval != 0 {
			t.Fatalf("latent %d is of %v after the start, the one before it of %v", z.Seq, z.Time.Sub(c.start), before.Sub(c.start))
		}
		next, before = z.Seq+1, z.Time
	}
	return g, summary, err
}

// told returns the events of one code.
func (s *sink) told(code string) (events []latent.Event) {
	for _, e := range s.events {
		if e.Code == code {
			events = append(events, e)
		}
	}
	return events
}

// TestLostAndBack: for every behaviour and length of an outage, one event reports the loss in time, and one the return. The camera is tracked again within 3 s
// of its return.
func TestLostAndBack(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			length := []time.Duration{8 * time.Second, 30 * time.Second, 2 * time.Minute}[rng.IntN(3)]
			from := 3*time.Second + time.Duration(rng.Int64N(int64(time.Second)))
			gone := outage{from, from + length/2 + time.Duration(rng.Int64N(int64(length)))}
			c := &camera{interval: 10 * time.Millisecond, habit: habit(seed % 5), outages: []outage{gone, {gone.to + 20*time.Second, gone.to + 30*time.Second}}}
			if c.habit < deaf {
				c.skips = map[int]bool{290: true, 291: true, 2000: true}
			}
			stall := 3 * time.Second
			g, summary, err := c.observe(t, gone.to+time.Minute, Options{Stall: stall, Stream: fmt.Sprint(seed)})
			if err != nil {
				t.Fatal(err)
			}
			lost, back := g.sinks[0].told("source_lost"), g.sinks[0].told("source_back")
			if len(lost) != 2 || len(back) != 2 || lost[0].Level != latent.Warning || back[0].Level != latent.Info {
				t.Fatalf("habit %d: lost %v, back %v; expected two of each", c.habit, lost, back)
			}
			want, slowest := "no frame for 3s", 3*time.Second
			if c.habit == deaf {
				slowest = stall + longestPause + c.interval // Open succeeded too early, which only the silence reveals
			}
			if c.habit < silent {
				stall, want = 0, "usb 3: source is not connected"
			}
			for i, o := range c.outages {
				if late := lost[i].Time.Sub(c.start) - o.from; late < 0 || late > stall+c.interval || !strings.HasPrefix(lost[i].Text, want) {
					t.Errorf("habit %d: told %v after the cable was out, expected %v: %q", c.habit, late, stall, lost[i].Text)
				}
				if late := back[i].Time.Sub(c.start) - o.to; late < 0 || late > slowest {
					t.Errorf("habit %d: back %v after the cable was in", c.habit, late)
				}
			}
			var said float64
			if _, err := fmt.Sscanf(back[0].Text, "the source is back after %f s without a frame", &said); err != nil || said < (gone.to-gone.from).Seconds()-0.1 || said > (gone.to-gone.from+slowest).Seconds()+0.1 {
				t.Errorf("habit %d: %q, expected %v or a little more", c.habit, back[0].Text, gone.to-gone.from)
			}
			if n := summary.Tracked + summary.Dropped["torn"]; n < 4700 || n > 5500 { // 100 per second for 53 to 54 s, minus up to 6 s
				t.Errorf("habit %d: %d frames", c.habit, n)
			}
			states := map[string]int{}
			for _, h := range g.sinks[0].healths {
				states[h.State]++
			}
			if states[away] == 0 || states[tracking] < 50 || g.sinks[0].healths[len(g.sinks[0].healths)-1].State != stopped {
				t.Errorf("states %v", states)
			}
		})
	}
}

// TestLostWhileStopping: a source that is lost, silent or stuck does not delay the end of the run, and all events are published.
func TestLostWhileStopping(t *testing.T) {
	for _, h := range []habit{refuses, latched, silent, deaf, stuck} {
		synctest.Test(t, func(t *testing.T) {
			c := &camera{interval: 10 * time.Millisecond, habit: h, outages: []outage{{time.Second, time.Hour}}}
			g := newRig(0)
			stages := g.stages()
			stages.Source = c
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			summary, err := Run(ctx, stages, Options{Stall: 2 * time.Second})
			hangs := h == latched || h == stuck
			if (err != nil) != hangs {
				t.Errorf("habit %d: %v", h, err)
			}
			if over := summary.Duration - 10*time.Second; over > 2*time.Second || !hangs && over > 0 {
				t.Errorf("habit %d: ended %v after it was told", h, over)
			}
			if n := len(g.sinks[0].told("source_lost")); n != 1 || g.sinks[0].count("source_back") != 0 || summary.Tracked != 99 {
				t.Errorf("habit %d: told %d times, %d tracked: %v", h, n, summary.Tracked, g.sinks[0].events)
			}
			if last := g.sinks[0].healths[len(g.sinks[0].healths)-2]; last.State != away {
				t.Errorf("habit %d: the state before the end is %s", h, last.State)
			}
			time.Sleep(time.Hour) // the stuck call returns
			synctest.Wait()
			if c.opens != c.closes {
				t.Errorf("habit %d: opened %d times, closed %d times", h, c.opens, c.closes)
			}
		})
	}
}

// TestPauses: only the options decide when a source counts as lost.
func TestPauses(t *testing.T) {
	quiet := []outage{{time.Second, 6 * time.Second}}
	for _, test := range []struct {
		stall time.Duration
		lost  int
	}{{0, 0}, {6 * time.Second, 0}, {4 * time.Second, 1}} {
		synctest.Test(t, func(t *testing.T) {
			c := &camera{interval: 10 * time.Millisecond, habit: stuck, outages: quiet}
			g, _, err := c.observe(t, 20*time.Second, Options{Stall: test.stall})
			if err != nil || len(g.sinks[0].told("source_lost")) != test.lost || len(g.sinks[0].told("source_back")) != test.lost || c.opens != 1+test.lost {
				t.Errorf("stall %v: %v, opened %d times: %v", test.stall, err, c.opens, g.sinks[0].events)
			}
		})
	}
}

// TestHangingNeighbour: two cameras run at 200 frames per second, tracked in 4 ms each, next to a camera that hangs. They lose no frame, and their latency does
// not rise.
func TestHangingNeighbour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hanging := &camera{interval: 5 * time.Millisecond, habit: stuck, outages: []outage{{time.Second, time.Hour}}}
		failed := make(chan error)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		go func() {
			g := newRig(0)
			stages := g.stages()
			stages.Source = hanging
			_, err := Run(ctx, stages, Options{Stall: time.Second})
			failed <- err
		}()
		healthy := make(chan *rig)
		for range 2 {
			go func() {
				g := newRig(0)
				g.encoder.delay = 4 * time.Millisecond
				stages := g.stages()
				stages.Source = &camera{interval: 5 * time.Millisecond}
				if summary, err := Run(ctx, stages, Options{Stall: time.Second}); err != nil || len(summary.Dropped) != 0 {
					t.Errorf("dropped %v: %v", summary.Dropped, err)
				}
				healthy <- g
			}()
		}
		for range 2 {
			g := <-healthy
			if n := len(g.estimator.seen); n < 5990 || n > 6000 {
				t.Errorf("%d frames in 30 s at 200 a second", n)
			}
			for _, e := range g.sinks[0].estimates {
				if e.Latency != 4*time.Millisecond {
					t.Fatalf("frame %d had a latency of %v, expected 4 ms", e.Latent.Seq, e.Latency)
				}
			}
		}
		if err := <-failed; err == nil || !strings.Contains(err.Error(), "source did not stop") {
			t.Errorf("the one that hangs: %v", err)
		}
		time.Sleep(time.Hour) // the hanging call returns
	})
}
