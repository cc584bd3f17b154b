package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// flat is an encoder of d latents, all with the same value.
type flat struct {
	d      int
	value  float64
	closed atomic.Int64
}

func (e *flat) Dim() int                 { return e.d }
func (e *flat) Sees() latent.Observation { return latent.Observation{Latent: &latent.Latent{}} }
func (e *flat) Close() error             { e.closed.Add(1); return nil }
func (e *flat) Encode(_ context.Context, dst latent.Observation, f *frame.Frame) error {
	z := dst.Latent
	z.Reset(e.d)
	for i := range z.Mean {
		z.Mean[i], z.SD[i] = e.value, 1
	}
	time.Sleep(2 * time.Millisecond)
	return nil
}

// law is an estimator with a state. Its revision increases with every latent, and it raises an alarm on the third.
type law struct {
	estimator
	name  string
	taken atomic.Int64
}

func (l *law) Update(dst *latent.Estimate, z latent.Observation) (told bool, err error) {
	if told, err = l.estimator.Update(dst, z); err != nil {
		return false, err
	}
	dst.SDE.Revision = uint64(l.taken.Add(1))
	return told, nil
}
func (l *law) Alarms() []latent.Event {
	if len(l.seen) != 3 {
		return nil
	}
	return []latent.Event{{Level: latent.Warning, Code: "jump", Count: 1}}
}
func (l *law) Save(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s %d", l.name, len(l.seen))
	return err
}
func (l *law) Restore(io.Reader) error { return nil }

// another returns a replacement with its own lanes, and the arguments of the calls of Done.
func another(e Estimator, lanes, d int, kept *bytes.Buffer) (r *Replacement, used *[]bool) {
	used = new([]bool)
	r = &Replacement{
		Model: "another", Steps: []NamedStep{{"fresh", []Step{&step{}}}}, Estimator: e,
		Keep: func(state []byte, _ Place) error { kept.Reset(); kept.Write(state); return nil },
		Done: func(u bool) { *used = append(*used, u) },
	}
	for range lanes {
		r.Encoders = append(r.Encoders, &flat{d: d, value: float64(d)})
	}
	return r, used
}

// TestSwap: tracking continues while a model is prepared. From one frame to the next the new model takes over, with new lanes, dimensions and law. The old
// lanes are closed; the old law is saved and remains unchanged until a later swap uses it again.
func TestSwap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := &law{name: "first"}, &law{name: "second"}
		s := &source{n: -1, live: true, interval: time.Millisecond}
		stages, out := laneRig(t, 3, s, first)
		for i := range stages.Encoders {
			stages.Encoders[i] = &flat{d: 1}
		}
		var firstKept, secondKept bytes.Buffer
		there, usedThere := another(second, 1, 4, &secondKept)
		back, usedBack := another(first, 2, 1, &firstKept)
		var like *frame.Frame
		stages.Swap = func(ctx context.Context, payload []byte, l *frame.Frame) (*Replacement, error) {
			like = l
			time.Sleep(100 * time.Millisecond) // of work outside the frame path
			switch string(payload) {
			case "there":
				return there, nil
			case "back":
				return back, nil
			}
			return nil, latent.Refuse(latent.Unknown, "no such model")
		}
		rig := &rig{sinks: []*sink{out}}
		go func() {
			time.Sleep(50 * time.Millisecond)
			before := first.taken.Load()
			if err := ask(rig, "model", "nowhere"); err == nil || first.taken.Load() < before+8 || second.taken.Load() != 0 {
				t.Errorf("refused with %v; %d frames were tracked meanwhile", err, first.taken.Load()-before)
			}
			if err := ask(rig, "model", "there"); err != nil {
				t.Error(err)
			}
			left := first.taken.Load()
			if firstKept.String() != fmt.Sprintf("first %d", left) {
				t.Errorf("kept %q as the model changed, expected the law of %d latents", &firstKept, left)
			}
			time.Sleep(50 * time.Millisecond)
			if first.taken.Load() != left || second.taken.Load() < 10 {
				t.Errorf("after the change the laws took %d and %d latents more", first.taken.Load()-left, second.taken.Load())
			}
			for _, e := range stages.Encoders {
				if n := e.(*flat).closed.Load(); n != 1 {
					t.Errorf("an encoder that was replaced was closed %d times", n)
				}
			}
			if err := ask(rig, "model", "back"); err != nil {
				t.Error(err)
			}
			time.Sleep(20 * time.Millisecond)
			if n := first.taken.Load(); n <= left || n > left+40 {
				t.Errorf("the first law goes on from %d latents with %d", left, n)
			}
			if err := ask(rig, "stop", ""); err != nil {
				t.Error(err)
			}
		}()
		summary, err := Run(t.Context(), stages, Options{ViewEvery: 5 * time.Millisecond, Keep: func(state []byte, _ Place) error {
			firstKept.Reset()
			firstKept.Write(state)
			return nil
		}})
		if err != nil || summary.FramesIn != summary.Tracked+frameDrops(summary) {
			t.Errorf("%d frames in, %d tracked, dropped %v: %v", summary.FramesIn, summary.Tracked, summary.Dropped, err)
		}
		if fmt.Sprint(*usedThere, *usedBack) != "[true] [true]" || first.closes != 1 || second.closes != 0 {
			t.Errorf("used %v and %v; the laws were closed %d and %d times, expected the last one once", *usedThere, *usedBack, first.closes, second.closes)
		}
		if there.Encoders[0].(*flat).closed.Load() != 1 || there.Steps[0].Steps[0].(*step).closes != 1 || back.Encoders[1].(*flat).closed.Load() != 1 {
			t.Error("what was replaced, or ended the run, was not closed once")
		}
		if like == nil || like.Seq != 0 || like.Mat().Ptr() != nil {
			t.Errorf("models were tried on %+v, expected the first frame, closed by now", like)
		}
		followed(t, out)
		var told []string
		for _, e := range out.events {
			if strings.HasPrefix(e.Code, "command") || e.Code == "jump" {
				told = append(told, e.Code+" "+string(e.Level))
			}
		}
		if got := strings.Join(told, ", "); got != "jump warning, jump info, command_model info, jump warning, jump info, command_model info, command_stop info" {
			t.Errorf("told %s", got)
		}
		if got := secondKept.String(); got != fmt.Sprintf("second %d", len(second.seen)) {
			t.Errorf("kept %q", got)
		}
		names := ""
		for _, stage := range summary.Health.Stages {
			names += stage.Name + " "
		}
		if names != "read fresh encode estimate publish " {
			t.Errorf("stages %s", names)
		}
	})
}

// followed checks that every estimate has a new revision, that frames are in order, and that each model starts a new trajectory.
func followed(t *testing.T, out *sink) {
	t.Helper()
	dims := ""
	for i, e := range out.estimates {
		if i == 0 {
			dims = fmt.Sprint(len(e.Latent.Mean))
			continue
		}
		before := out.estimates[i-1]
		if e.SDE.Revision <= before.SDE.Revision || e.Latent.Seq <= before.Latent.Seq {
			t.Fatalf("frame %d, revision %d after frame %d, revision %d", e.Latent.Seq, e.SDE.Revision, before.Latent.Seq, before.SDE.Revision)
		}
		if now, was := len(e.Latent.Mean), len(before.Latent.Mean); now != was {
			dims += fmt.Sprint(" ", now)
			if e.Latent.Trajectory != before.Latent.Trajectory+1 {
				t.Errorf("trajectory %d after %d, expected a new one with the model", e.Latent.Trajectory, before.Latent.Trajectory)
			}
		} else if e.Latent.Trajectory != before.Latent.Trajectory {
			t.Errorf("a trajectory begins within a model at frame %d", e.Latent.Seq)
		}
	}
	if dims != "1 4 1" {
		t.Errorf("latents of %s dimensions, expected 1, 4 and 1 again", dims)
	}
}

// TestSwapOfPaused: a paused file can change its model too; the first frame serves for the test.
func TestSwapOfPaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(200)
		g.source.interval = time.Millisecond
		g.sinks[0].commands = make(chan latent.Command)
		second := &estimator{}
		next, _ := another(second, 4, 2, &bytes.Buffer{})
		stages := g.stages()
		stages.Swap = func(_ context.Context, _ []byte, like *frame.Frame) (*Replacement, error) {
			if like == nil {
				return nil, latent.Refuse(latent.NotNow, "no frame")
			}
			return next, nil
		}
		go func() {
			time.Sleep(50 * time.Millisecond)
			for _, name := range []string{"pause", "model", "resume"} {
				if err := ask(g, name, ""); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}()
		if _, err := Run(t.Context(), stages, Options{}); err != nil {
			t.Fatal(err)
		}
		if n, m := len(g.estimator.seen), len(second.seen); n+m != 200 || m < 100 {
			t.Errorf("the laws took %d and %d latents of 200", n, m)
		}
	})
}

// TestSwapAtTheEnd: a model that is ready too late is closed and the command refused. A stream that cannot change its model refuses, too.
func TestSwapAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(100)
		g.source.interval = time.Millisecond
		g.sinks[0].commands = make(chan latent.Command)
		next, used := another(&estimator{}, 1, 2, &bytes.Buffer{})
		stages := g.stages()
		stages.Swap = func(ctx context.Context, _ []byte, _ *frame.Frame) (*Replacement, error) {
			<-ctx.Done()
			return next, nil
		}
		answer := make(chan error, 1)
		go func() { answer <- ask(g, "model", "") }()
		if _, err := Run(t.Context(), stages, Options{}); err != nil {
			t.Fatal(err)
		}
		if err := <-answer; !errors.Is(err, errEnded) || fmt.Sprint(*used) != "[false]" || next.Encoders[0].(*flat).closed.Load() != 1 {
			t.Errorf("answered %v, used %v", err, *used)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		g := newRig(100)
		g.source.interval = time.Millisecond
		g.sinks[0].commands = make(chan latent.Command)
		go func() {
			var refusal *latent.Refusal
			if err := ask(g, "model", `{"name": "spot"}`); !errors.As(err, &refusal) || refusal.Code != latent.Conflict {
				t.Errorf("found %v", err)
			}
		}()
		if _, err := g.run(t, 0); err != nil {
			t.Fatal(err)
		}
	})
}
