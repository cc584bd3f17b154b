package pooled

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"driftscope/internal/kit/archive"
	"driftscope/internal/suite"
	"driftscope/online/maps"
	"driftscope/online/states"
)

func TestMain(m *testing.M) { os.Exit(suite.Goroutines(m.Run())) }

const dt = 0.02

// field simulates diffusing objects, half of them ten times as fast, each with its trail.
type field struct {
	rng    *rand.Rand
	trails []Trail
}

func newField(n int) *field { return &field{rand.New(rand.NewPCG(1, 2)), make([]Trail, n)} }

// frame moves all objects by one frame.
func (f *field) frame(l *Learner) {
	for i := range f.trails {
		sd := math.Sqrt(2 * 2 * dt * []float64{1, 10}[i%2])
		f.trails[i].Step(states.Step{X: sd * f.rng.NormFloat64(), Y: sd * f.rng.NormFloat64(), DT: dt}, 0.01, 0.01, l.Keep)
	}
	l.Count(len(f.trails))
}

func (f *field) live() (out []states.Segment) {
	for i := range f.trails {
		if s, ok := f.trails[i].Segment(); ok {
			out = append(out, s)
		}
	}
	return out
}

// follow runs a learner over frames, and returns it with the frames at which its law changed.
func follow(t *testing.T, frames int) (l *Learner, f *field, changes []uint64) {
	l = New(Config{Deterministic: true})
	t.Cleanup(l.Close)
	f = newField(20)
	for seq := range uint64(frames) {
		f.frame(l)
		if l.Pass(seq, f.live) {
			changes = append(changes, seq)
		}
	}
	return l, f, changes
}

// TestLearner verifies that the first law follows Lag frames after the first 200 steps, and each later law after as many new steps as the last law used.
// Frames and figures are reproducible, and the last law uses all steps.
func TestLearner(t *testing.T) {
	l, f, changes := follow(t, 300)
	if len(changes) < 2 || changes[0] != 9+Lag || len(changes) > 8 {
		t.Fatalf("laws at %v", changes)
	}
	other, g, again := follow(t, 300)
	if !reflect.DeepEqual(changes, again) || !reflect.DeepEqual(l.Law(), other.Law()) {
		t.Errorf("the same steps gave laws at %v and %v", changes, again)
	}
	if !l.Finish(299, f.live()) || l.Law().Seq != 299 || l.Law().Mixture.Steps != 300*20 {
		t.Errorf("the last law is from frame %d and %d steps, expected 299 and 6000", l.Law().Seq, l.Law().Mixture.Steps)
	}
	if other.Finish(299, g.live()); !reflect.DeepEqual(l.Law(), other.Law()) {
		t.Error("the last laws of two runs differ")
	}
	if s := l.Law().Mixture.States; len(s) != 2 || math.Abs(math.Log(s[0].D.Value/2)) > 0.1 || math.Abs(s[1].Fraction.Value-0.5) > 0.1 { // 3,000 steps each give D to 2 %
		t.Errorf("states %+v", s)
	}
	share := 0.0
	for i, v := range l.Law().Spectrum {
		if share += v; Edges()[i] < 0.3 && v > 0.01 {
			t.Errorf("%.3f of the spectrum at %g", v, Edges()[i])
		}
	}
	if math.Abs(share-1) > 1e-9 {
		t.Errorf("the spectrum adds up to %g", share)
	}
	if l.Finish(300, f.live()) {
		t.Error("Finish learnt a law without new steps")
	}
}

// TestLive verifies that Pass does not wait for a late law, and that no learning starts after a law before the clock advances.
func TestLive(t *testing.T) {
	l := New(Config{})
	defer l.Close()
	var now, spent atomic.Int64
	l.worker.Now = func() time.Time { return time.Unix(now.Load(), 0) }
	l.worker.Spent = func() time.Duration { return time.Duration(spent.Add(int64(time.Microsecond))) } // every reading advances the clock
	f := newField(20)
	frame := func() bool { f.frame(l); return l.Pass(1, f.live) }
	for range 10 {
		frame()
	}
	for deadline := time.Now().Add(time.Minute); !frame(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the finished law did not come into use")
		}
	}
	for range 100 {
		if frame(); l.inFlight {
			t.Fatal("learning began during the pause")
		}
	}
	now.Store(1)
	if frame(); !l.inFlight {
		t.Error("no learning began after the pause")
	}
	l.Reset()
	if l.Law() != nil || l.memory.steps != 0 {
		t.Error("Reset left a law or steps")
	}
}

// TestGrowth verifies that a law of a live run uses about four times the steps of the previous law, and that the last law of a run uses all steps.
func TestGrowth(t *testing.T) {
	l := New(Config{})
	defer l.Close()
	for range 1000 {
		l.Keep(states.Segment{Weight: 1, Steps: make([]states.Step, longest)})
	}
	until := func(inFlight bool) {
		for l.inFlight != inFlight {
			l.Pass(1, func() []states.Segment { return nil })
			time.Sleep(time.Millisecond)
		}
	}
	want := firstLaw
	for range 3 {
		want *= growth
		l.Count(mostSteps)
		if until(true); l.given > want+longest || l.given < want/2 {
			t.Errorf("a law was learnt from %d steps, expected about %d", l.given, want)
		}
		until(false)
	}
	l.Count(1)
	if l.Finish(2, nil); l.given != 1000*longest {
		t.Errorf("the last law was learnt from %d steps, expected all %d", l.given, 1000*longest)
	}
}

// TestMemory verifies that the memory stays within its bounds, and includes all live objects.
func TestMemory(t *testing.T) {
	var m memory
	piece := states.Segment{Weight: 1, Steps: make([]states.Step, longest)}
	for range 2000 {
		m.keep(piece)
	}
	if m.steps != mostSteps || len(m.pieces) != mostSteps/longest {
		t.Errorf("%d steps of %d pieces", m.steps, len(m.pieces))
	}
	live := []states.Segment{{Weight: 0.5, Steps: make([]states.Step, 10)}}
	all := m.with(live)
	if len(all) != mostSteps/longest || all[len(all)-1].Weight != 0.5 {
		t.Errorf("%d pieces with the pieces of live objects", len(all))
	}
	one := states.Segment{Weight: 1, Steps: make([]states.Step, 1)}
	for range 2 * mostPieces {
		m.keep(one)
	}
	if len(m.pieces) != mostPieces {
		t.Errorf("%d pieces of one step", len(m.pieces))
	}
}

// TestTrail verifies that a piece is full at 64 steps, and that a piece with an unknown localisation variance uses equal variances.
func TestTrail(t *testing.T) {
	var kept []states.Segment
	keep := func(s states.Segment) { kept = append(kept, s) }
	var trail Trail
	for i := range longest + 1 {
		trail.Step(states.Step{X: float64(i), DT: 1}, 1, 2, keep)
	}
	s, ok := trail.Segment()
	if len(kept) != 1 || len(kept[0].Steps) != longest || len(kept[0].Scale) != longest+1 || kept[0].Scale[0] != 1 || kept[0].Scale[1] != 2 || !ok || len(s.Steps) != 1 || s.Steps[0].X != longest {
		t.Errorf("%d finished pieces, live piece %+v", len(kept), s)
	}
	trail.Cut(keep)
	if _, ok := trail.Segment(); ok || len(kept) != 2 {
		t.Error("Cut left steps in the trail")
	}
	trail.Cut(keep)
	trail.Step(states.Step{DT: 1}, 0, 2, keep)
	if s, _ := trail.Segment(); s.Scale != nil || len(kept) != 2 {
		t.Errorf("with an unknown variance, found %+v", s)
	}
}

// TestArchive verifies that the remembered steps are restored in single precision, and that truncated data are refused.
func TestArchive(t *testing.T) {
	l, f, _ := follow(t, 100)
	bad := errors.New("unusable")
	c := archive.NewWriter(bad)
	l.Archive(c, f.live())
	again := New(Config{Deterministic: true})
	defer again.Close()
	data := append([]byte(nil), c.Bytes()...)
	r := archive.NewReader(append([]byte(nil), data...), bad)
	if again.Archive(r, nil); r.End() != nil {
		t.Fatal(r.End())
	}
	if l.Finish(99, f.live()); !again.Finish(99, nil) || again.Law().Mixture.Steps != l.Law().Mixture.Steps || math.Abs(again.Law().Mixture.D.Value/l.Law().Mixture.D.Value-1) > 1e-5 {
		t.Errorf("read back D %+v, written %+v", again.Law().Mixture.D, l.Law().Mixture.D)
	}
	for i := 0; i < len(data); i += 97 {
		torn := New(Config{Deterministic: true})
		c := archive.NewReader(append([]byte(nil), data[:i]...), bad)
		if torn.Archive(c, nil); c.End() == nil {
			t.Errorf("truncated to %d of %d bytes, the data were accepted", i, len(data))
		}
		torn.Close()
	}
}

// TestArchiveMap verifies that the sums of the map are restored, that a field of the same size continues with them, and that a field of another size restarts
// the map.
func TestArchiveMap(t *testing.T) {
	bad := errors.New("unusable")
	l, again := New(Config{Deterministic: true}), New(Config{Deterministic: true})
	defer l.Close()
	defer again.Close()
	if err := l.Begin(64, 48); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		l.Elapse(dt)
		l.Move(&maps.Step{X: float64(i % 64), Y: float64(i % 48), DX: 0.5, DY: -0.5, DT: dt, Weight: 1})
	}
	c := archive.NewWriter(bad)
	l.Archive(c, nil)
	r := archive.NewReader(append([]byte(nil), c.Bytes()...), bad)
	if again.Archive(r, nil); r.End() != nil {
		t.Fatal(r.End())
	}
	if err := again.Begin(64, 48); err != nil || !reflect.DeepEqual(again.field, l.field) || again.moves != 100 {
		t.Errorf("%v; read back %d steps, different sums: %v", err, again.moves, !reflect.DeepEqual(again.field, l.field))
	}
	if err := again.Begin(64, 50); err != nil || again.moves != 0 || len(again.field.Law(nil).Cells) != 0 {
		t.Errorf("%v; the map for a field of another size has %d steps", err, again.moves)
	}
	for i := 0; i < len(c.Bytes()); i += 7 {
		torn := New(Config{Deterministic: true})
		r := archive.NewReader(append([]byte(nil), c.Bytes()[:i]...), bad)
		if torn.Archive(r, nil); r.End() == nil {
			t.Errorf("truncated to %d of %d bytes, the data were accepted", i, len(c.Bytes()))
		}
		torn.Close()
	}
}

// TestSays verifies the sentences for one state, one state with a spread, and two states.
func TestSays(t *testing.T) {
	state := func(d, share float64) states.State {
		return states.State{D: states.Interval{Value: d, Low: d / 2, High: 2 * d}, Fraction: states.Interval{Value: share}}
	}
	for want, l := range map[string]*Law{
		"All objects diffuse alike: D 4 (2 to 8) px²/s.":                                                                           {Mixture: &states.Law{States: []states.State{state(4, 1)}}},
		"One kind of object, with D spread by a factor of 1.6 around the median: D 4 (2 to 8) px²/s.":                              {Mixture: &states.Law{States: []states.State{state(4, 1)}, Spread: states.Interval{Value: 0.5}}},
		"2 states: 25 % of the time D below 2 px²/s, 75 % of the time D 8 (4 to 16) px²/s; no evidence of switching between them.": {Mixture: &states.Law{States: []states.State{{D: states.Interval{Value: 0.1, High: 2}, Fraction: states.Interval{Value: 0.25}}, state(8, 0.75)}}},
	} {
		if got := l.Says(0); got != want {
			t.Errorf("found %q, expected %q", got, want)
		}
	}
	l := &Law{Mixture: &states.Law{States: []states.State{state(1, 0.5), state(8, 0.5)}, Lag: 3}}
	if got := l.Says(0); !strings.Contains(got, "16) px²/s. Compression smears motion") || !strings.Contains(got, "steps of 3 frames") {
		t.Errorf("found %q", got)
	}
	l.Mixture.Lag = 1
	if got := l.Says(0.5); !strings.Contains(got, "D 0.25 (0.125 to 0.5) µm²/s") {
		t.Errorf("found %q", got)
	}
}

// TestForget verifies that a law follows after as many new steps as the last law used. After Forget, the next law uses later steps only, and the old law
// stays in use until then.
func TestForget(t *testing.T) {
	l, f, changes := follow(t, 400)
	if len(changes) < 4 || changes[3] < 2*changes[2]-2*Lag {
		t.Errorf("laws at %v, expected one at each doubling", changes)
	}
	before := l.Law()
	l.Forget()
	for i := range f.trails {
		f.trails[i].Forget()
	}
	if l.Law() != before || l.memory.steps != 0 || len(f.live()) != 0 {
		t.Error("Forget dropped the law, or left steps")
	}
	for seq := uint64(400); l.Law() == before && seq < 500; seq++ {
		f.frame(l)
		l.Pass(seq, f.live)
	}
	if l.Law() == before || l.Law().Mixture.Steps != 200 {
		t.Errorf("the next law uses %d steps, expected 200, from 10 frames", l.Law().Mixture.Steps)
	}
}
