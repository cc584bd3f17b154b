package online

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online/onlinetest"
)

// held returns an estimator whose third slice, the first of moving latents, does not start before release is called. Later slices wait behind it. Waiting for
// it before release blocks for ever.
func held(t *testing.T, c Config) (e *Estimator, release func()) {
	e = estimator(t, c)
	let, read := make(chan struct{}), 0
	e.worker.Slices.Spent = func() time.Duration { // read before and after every slice
		if read++; read == 5 {
			<-let
		}
		return 0
	}
	return e, func() { close(let) }
}

// twoPaths returns the latents of two laws.
func twoPaths() (a, b []latent.Latent) {
	a, _ = onlinetest.Stream(onlinetest.Circle, 220, 0.3, onlinetest.Rand(4))
	b, _ = onlinetest.Stream(onlinetest.Spring, 220, 0, onlinetest.Rand(5))
	return a, b
}

// Save waits for no slice and writes the same state before a running slice has ended as after. Restore does not wait either, and leaves no trace of the
// slices that were running.
func TestSaveAndRestoreBesideASlice(t *testing.T) {
	seen, _ := twoPaths()
	for name, c := range map[string]Config{
		"deterministic": {Dim: 2, Seed: 3, Deterministic: true, RefineLag: 20},
		"repeated":      {Dim: 2, Seed: 3, Applied: []uint64{75, 125, 180}, RefineLag: 20},
	} {
		whole := estimator(t, c)
		feed(t, whole, seen[:160])
		whole.worker.Idle(true)
		after := saved(t, whole)
		feed(t, whole, seen[160:])

		e, release := held(t, c)
		feed(t, e, seen[:160])
		state := saved(t, e)
		if !e.law.inFlight || e.worker.Idle(false) || !bytes.Equal(state, after) {
			t.Fatalf("%s: a slice is running: %v; the states before and after its end are equal: %v", name, e.law.inFlight, bytes.Equal(state, after))
		}
		for range 3 { // each Restore begins the slice again, behind the dropped one
			if err := e.Restore(bytes.NewReader(state)); err != nil {
				t.Fatal(err)
			}
			feed(t, e, seen[160:165])
		}
		if err := e.Restore(bytes.NewReader(state)); err != nil {
			t.Fatal(err)
		}
		release()
		feed(t, e, seen[160:])
		if !bytes.Equal(saved(t, e), saved(t, whole)) {
			t.Errorf("%s: restored during a slice, the estimator continues differently", name)
		}
	}
}

// Reset waits for no slice, and the running slice's result is dropped: the law is learnt as if the slice had never run.
func TestResetBesideASlice(t *testing.T) {
	seen, other := twoPaths()
	c := Config{Dim: 2, Seed: 3, Deterministic: true, RefineLag: 20}
	want := *feed(t, estimator(t, c), other)
	e, release := held(t, c)
	before := feed(t, e, seen[:160]).SDE.Revision
	if e.Reset(); !e.worker.Idle(false) {
		t.Error("Reset left a slice of the forgotten law in flight")
	}
	feed(t, e, other[:60]) // the next slice waits for the goroutine
	release()
	got := *feed(t, e, other[60:])
	want.SDE.Revision += before
	if want.SDE.DriftRevision == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// In a live run, too, Save, Reset, Restore and Update wait for no slice, and a restored estimator continues from the saved state.
func TestLiveBesideASlice(t *testing.T) {
	seen, other := twoPaths()
	e, let := estimator(t, Config{Dim: 2, Seed: 3, RefineLag: 5}), make(chan struct{})
	e.worker.Slices.Spent = func() time.Duration { // no pause follows a slice
		<-let
		return 0
	}
	feed(t, e, seen[:100])
	state := saved(t, e)
	if e.worker.Idle(false) {
		t.Fatal("no slice is running")
	}
	e.Reset()
	feed(t, e, other[:100])
	if err := e.Restore(bytes.NewReader(state)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(state, saved(t, e)) {
		t.Error("restored and saved again, the state differs")
	}
	feed(t, e, seen[100:150])
	if r := e.Refinement(); r.Revision != 0 || r.Unused != 0 {
		t.Errorf("while a slice is blocked, found %+v", r)
	}
	close(let)
	e.worker.Idle(true)
	feed(t, e, seen[150:151])
	if r := e.Refinement(); r.Revision != 1 || r.Frame != 150 || e.worker.Remembered() != 50 {
		t.Errorf("the slice of %d latents gave %+v; want 50, revision 1 at frame 150", e.worker.Remembered(), r)
	}
}
