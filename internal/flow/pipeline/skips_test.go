package pipeline

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
)

func TestSkips(t *testing.T) {
	skip := &ErrSkip{Cause: "torn", Err: errors.New("page 3 is cut off")}
	synctest.Test(t, func(t *testing.T) {
		g := newRig(20)
		g.source.errs = map[int]error{3: skip, 4: fmt.Errorf("a.tif: %w", skip)}
		g.source.lost = map[int]uint64{10: 7}
		g.step.errs = map[uint64]error{6: &ErrSkip{Cause: "blank", Err: errors.New("all zero")}}
		g.encoder.errs = map[uint64]error{7: skip}
		g.estimator.errs = map[uint64]error{8: errors.New("z is NaN")}
		g.step.notice = map[uint64]string{6: "noticed"}
		summary, err := g.run(t, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]uint64{"torn": 3, "blank": 1, "estimator_refused": 1, "dropped_by_source": 7}
		if fmt.Sprint(summary.Dropped) != fmt.Sprint(want) || summary.FramesIn != 27 {
			t.Errorf("dropped %v of %d, expected %v of 27", summary.Dropped, summary.FramesIn, want)
		}
		for cause, n := range want {
			if got := g.sinks[0].count(cause); got != n {
				t.Errorf("events tell of %d %s, expected %d", got, cause, n)
			}
		}
		if g.sinks[0].count("noticed") != 1 {
			t.Error("the event that rode on a skipped frame was lost")
		}
	})
	for _, stage := range []string{"source", "encoder", "estimator"} {
		t.Run("endless "+stage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(1000)
				reads, seqs := map[int]error{}, map[uint64]error{}
				for i := range 1000 {
					reads[i], seqs[uint64(i)] = skip, skip
				}
				switch stage {
				case "source":
					g.source.errs = reads
				case "encoder":
					g.encoder.errs = seqs
				case "estimator":
					g.estimator.errs = seqs
				}
				_, err := g.run(t, 0)
				if !errors.Is(err, skip) || !strings.Contains(err.Error(), "101 frames in a row") || !strings.Contains(err.Error(), stage) {
					t.Errorf("found error %v", err)
				}
			})
		})
	}
}

// TestLiveSkips: a live stream continues after any number of frames that cannot be read or tracked. An event reports them now and then.
func TestLiveSkips(t *testing.T) {
	const bad, good = 200, 50
	skip := &ErrSkip{Cause: "torn", Err: errors.New("page 3 is cut off")}
	unfit := errors.New("the region does not lie in the frame")
	for stage, spoil := range map[string]func(g *rig, read map[int]error, seq map[uint64]error){
		"source":    func(g *rig, read map[int]error, _ map[uint64]error) { g.source.errs = read },
		"encoder":   func(g *rig, _ map[int]error, seq map[uint64]error) { g.encoder.errs = seq },
		"estimator": func(g *rig, _ map[int]error, seq map[uint64]error) { g.estimator.errs = seq },
		"look": func(g *rig, _ map[int]error, seq map[uint64]error) {
			for i := range seq {
				seq[i] = unfit
			}
			g.step.errs, g.source.public = seq, true
		},
	} {
		t.Run(stage, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newRig(bad + good)
				g.source.live, g.source.interval = true, time.Millisecond
				read, seq := map[int]error{}, map[uint64]error{}
				for i := range bad {
					read[i], seq[uint64(i)] = skip, skip
				}
				spoil(g, read, seq)
				summary, err := g.run(t, 0)
				if err != nil || summary.Tracked != good || summary.FramesIn != bad+good || frameDrops(summary) != bad || len(summary.Dropped) != 1 {
					t.Errorf("%d of %d tracked, dropped %v: %v", summary.Tracked, summary.FramesIn, summary.Dropped, err)
				}
				said := g.sinks[0].told("nothing_tracked")
				if len(said) != 1 || said[0].Level != latent.Warning || !strings.Contains(said[0].Text, "101 frames in a row") || !strings.Contains(said[0].Text, stage) {
					t.Errorf("told %v, expected once that nothing is tracked", said)
				}
				if n := len(g.sinks[0].events); n > 5 {
					t.Errorf("%d events in a quarter of a second", n)
				}
			})
		})
	}
}

// TestUnfit: if the source is not public, a frame that a step cannot process ends the run.
func TestUnfit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(10)
		g.source.live, g.source.interval = true, time.Millisecond
		unfit := errors.New("the region does not lie in the frame")
		g.step.errs = map[uint64]error{0: unfit}
		if _, err := g.run(t, 0); !errors.Is(err, unfit) {
			t.Errorf("found %v", err)
		}
	})
}

// TestPublicSkips: too many unreadable frames end the run of a source that waits, unless the source is public.
func TestPublicSkips(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(250)
		g.source.public, g.source.errs = true, map[int]error{}
		for i := range 200 {
			g.source.errs[i] = &ErrSkip{Cause: "bad_message", Err: errors.New("junk")}
		}
		summary, err := g.run(t, 0)
		if err != nil || summary.Tracked != 50 || len(g.sinks[0].told("nothing_tracked")) != 1 {
			t.Errorf("%d tracked, %d told: %v", summary.Tracked, len(g.sinks[0].told("nothing_tracked")), err)
		}
	})
}
