package pipeline

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// ordered is a step that requires every frame in order, and one at a time.
type ordered struct {
	t      *testing.T
	next   uint64
	inside sync.Mutex
}

func (o *ordered) Apply(_ context.Context, f *frame.Frame) error {
	if !o.inside.TryLock() {
		o.t.Errorf("frame %d came while another was inside", f.Seq)
		return nil
	}
	defer o.inside.Unlock()
	if f.Seq < o.next {
		o.t.Errorf("frame %d came after frame %d", f.Seq, o.next-1)
	}
	o.next = f.Seq + 1
	time.Sleep(time.Millisecond)
	return nil
}
func (o *ordered) Can() Abilities { return Abilities{} }
func (o *ordered) Close() error   { return nil }

// fickle is an independent step whose duration depends on the frame. It refuses some frames, and fails the test if two frames are in it at once.
type fickle struct {
	t      *testing.T
	inside sync.Mutex
}

func (s *fickle) Apply(_ context.Context, f *frame.Frame) error {
	if !s.inside.TryLock() {
		s.t.Errorf("frame %d came onto a lane that was busy", f.Seq)
		return nil
	}
	defer s.inside.Unlock()
	rng := rand.New(rand.NewPCG(f.Seq, 1))
	time.Sleep(time.Duration(rng.IntN(10)) * time.Millisecond)
	if rng.IntN(10) == 0 {
		return &ErrSkip{Cause: "fickle", Err: context.DeadlineExceeded}
	}
	return nil
}
func (s *fickle) Can() Abilities { return Abilities{Independent: true} }
func (s *fickle) Close() error   { return nil }

// laneRig returns a stream of n lanes. Each lane has its own first and second step and its own encoder; all lanes share two further steps.
func laneRig(t *testing.T, lanes int, s *source, e Estimator) (Stages, *sink) {
	out := &sink{commands: make(chan latent.Command)}
	stages := Stages{
		Source:    s,
		Steps:     []NamedStep{{Name: "first"}, {"shared", []Step{&ordered{t: t}}}, {Name: "second"}, {"last", []Step{&ordered{t: t}}}},
		Viewer:    &viewer{},
		Estimator: e,
		Sinks:     []NamedSink{{Name: "a", Sink: out, Commands: out.commands}},
	}
	for range lanes {
		stages.Steps[0].Steps = append(stages.Steps[0].Steps, &fickle{t: t})
		stages.Steps[2].Steps = append(stages.Steps[2].Steps, &fickle{t: t})
		stages.Encoders = append(stages.Encoders, &encoder{delay: 3 * time.Millisecond})
	}
	return stages, out
}

// TestLanes: any number of lanes gives the same latents in the same order, with the same number of frames missing before each. More lanes take less time.
func TestLanes(t *testing.T) {
	var first []latent.Latent
	var slowest time.Duration
	for _, lanes := range []int{1, 2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			e := &estimator{}
			stages, out := laneRig(t, lanes, &source{n: 300, lost: map[int]uint64{50: 7}}, e)
			summary, err := Run(t.Context(), stages, Options{ViewEvery: 100 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			if summary.FramesIn != 307 || summary.Tracked+summary.Dropped["fickle"]+7 != 307 || summary.Dropped["fickle"] == 0 {
				t.Errorf("%d lanes: %d in, %d tracked, dropped %v", lanes, summary.FramesIn, summary.Tracked, summary.Dropped)
			}
			for i := 1; i < len(out.estimates); i++ {
				if out.estimates[i].Latent.Seq <= out.estimates[i-1].Latent.Seq {
					t.Errorf("%d lanes: estimate of frame %d after that of %d", lanes, out.estimates[i].Latent.Seq, out.estimates[i-1].Latent.Seq)
				}
			}
			if err := checkViews(out.views, summary.Duration); err != nil {
				t.Errorf("%d lanes: %v", lanes, err)
			}
			if lanes == 1 {
				first, slowest = e.seen, summary.Duration
				return
			}
			if len(e.seen) != len(first) {
				t.Fatalf("%d lanes: %d latents, one lane gives %d", lanes, len(e.seen), len(first))
			}
			for i, z := range e.seen {
				if z.Seq != first[i].Seq || z.Dropped != first[i].Dropped || z.Mean[0] != first[i].Mean[0] {
					t.Errorf("%d lanes: latent %d is %+v, one lane gives %+v", lanes, i, z, first[i])
				}
			}
			// A frame takes 14 ms on average, 2 ms of them in shared steps. Two lanes therefore need 7 ms per frame, plus waiting.
			if summary.Duration > slowest*3/4 {
				t.Errorf("%d lanes took %v, one takes %v", lanes, summary.Duration, slowest)
			}
		})
	}
}

// checkViews expects at most one view per 100 ms, fewer only if frames failed, and an overview picture in every third view.
func checkViews(views []latent.View, length time.Duration) error {
	drawn := 0
	for _, v := range views {
		if v.Region == nil {
			return fmt.Errorf("a view of frame %d without a region", v.Seq)
		}
		if len(v.Whole) > 0 {
			drawn++
		}
	}
	if due := int(length/(100*time.Millisecond)) + 1; len(views) < due/2 || len(views) > due || drawn < len(views)/6 || drawn > len(views)/2 {
		return fmt.Errorf("%d views in %v, %d of them with a picture of the whole", len(views), length, drawn)
	}
	return nil
}

// TestCommandsBetweenLanes: a command is applied after all earlier frames have their estimates, and before any later frame.
func TestCommandsBetweenLanes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &estimator{}
		s := &source{n: 300}
		stages, out := laneRig(t, 4, s, e)
		go func() {
			for range 20 {
				time.Sleep(20 * time.Millisecond)
				reply := make(chan error)
				out.commands <- latent.Command{Name: "reset", Reply: func(err error) {
					folded := len(e.seen)
					time.Sleep(15 * time.Millisecond) // longer than any frame takes
					if len(e.seen) != folded {
						t.Errorf("%d frames were folded while a command was applied", len(e.seen)-folded)
					}
					reply <- err
				}}
				if err := <-reply; err != nil {
					t.Error(err)
				}
			}
		}()
		if _, err := Run(t.Context(), stages, Options{}); err != nil {
			t.Fatal(err)
		}
		if len(e.calls) != 20 {
			t.Errorf("%d commands were applied, expected 20", len(e.calls))
		}
	})
}
