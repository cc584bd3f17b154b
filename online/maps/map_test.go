package maps

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"driftscope/internal/kit/archive"
	"driftscope/internal/suite"
	"driftscope/online/maps/mapstest"
)

// TestDrift bounds the RMS error over visited squares, for r = 1 and without noise. The limits are 1.3 times the errors in fourteen other films, because two
// films scatter by this much.
func TestDrift(t *testing.T) {
	suite.Long(t)
	limits := map[string]float64{"a spring": 0.63, "a stiff spring": 1.2, "a soft spring, D 1": 0.185, "a wide well": 2.5, "three wells": 3.8,
		"three weak wells": 3.9, "a vortex": 2.9, "a flow": 0.62}
	var squares, scenesSeen float64
	for _, l := range mapstest.Scenes() {
		for _, r := range []float64{0, 1} {
			f := filmed(r)
			tracks := f.Tracks(&l, 3)
			w, at := mapped(f, tracks, 0).Law(nil), f.Visited(tracks)
			rms := math.Sqrt(l.Missed(at, func(x, y float64) (float64, float64) { d, _ := w.Drift(x, y); return d[0], d[1] }))
			none := math.Sqrt(l.Missed(at, mapstest.Uniform(0, 0)))
			z := l.Off(at, w.Drift)
			squares, scenesSeen = squares+z, scenesSeen+1
			t.Logf("%-20s r %.0f: error %.2f px/s of a drift of %.2f, errors of %.2f standard errors, %d squares shown", l.Name, r, rms, none, math.Sqrt(z), len(w.Cells))
			if rms > limits[l.Name] {
				t.Errorf("%s at r = %g: the drift is off by %.2f px/s, expected %.2f", l.Name, r, rms, limits[l.Name])
			}
			for _, c := range w.Cells {
				if math.Abs(c.D-l.D) > 5*c.DSD { // among some hundred squares, five sds occur by chance once in a thousand films
					t.Errorf("%s at r = %g: D %.2f ± %.2f, the truth is %g", l.Name, r, c.D, c.DSD, l.D)
					break
				}
			}
			if want := math.Sqrt(r * 2 * l.D * f.DT); math.Abs(w.Noise-want) > 0.15*want+0.1*math.Sqrt(l.D*f.DT) {
				t.Errorf("%s: noise %.2f px, the truth is %.2f", l.Name, w.Noise, want)
			}
		}
	}
	if z := math.Sqrt(squares / scenesSeen); z < 0.65 || z > 1.2 { // a film has few degrees of freedom, so its value scatters by a fifth
		t.Errorf("errors of %.2f standard errors", z)
	}
}

// TestPlaces verifies that each trap and vortex is reported once, at its position, and that nothing else is reported.
func TestPlaces(t *testing.T) {
	suite.Long(t)
	for _, l := range []mapstest.Law{mapstest.ASpring, mapstest.ThreeWells, mapstest.AVortex, mapstest.Nothing, mapstest.AFlow} {
		f := filmed(0.5)
		w := mapped(f, f.Tracks(&l, 7), 0).Law(nil)
		for kind, found := range [2][]Place{w.Traps, w.Vortices} {
			want := [2][]mapstest.Place{l.Traps, l.Vortices}[kind]
			if len(found) != len(want) {
				t.Errorf("%s: %+v, expected %+v", l.Name, found, want)
				continue
			}
			for _, o := range want {
				hit := false
				for _, p := range found { // four standard errors; the stiffness averages over a cell, and the prior flattens a peak
					hit = hit || math.Hypot(p.X-o.X, p.Y-o.Y) < 4*p.SD && math.Abs(p.Rate-o.Rate) < 4*p.RateSD
				}
				if !hit {
					t.Errorf("%s: nothing found at %+v, only %+v", l.Name, o, found)
				}
			}
		}
		if flows := l.Name == mapstest.AFlow.Name; flows != (w.Flow != nil) {
			t.Errorf("%s: found the flow %+v", l.Name, w.Flow)
		}
	}
}

// TestForgetting verifies that the map follows a spring with a moving centre, with valid standard errors, and that scaling the weights back changes
// nothing.
func TestForgetting(t *testing.T) {
	suite.Calculation(t)
	before, after := mapstest.Law{Drift: mapstest.Spring(100, 128, 2), D: 10}, mapstest.Law{Drift: mapstest.Spring(156, 128, 2), D: 10}
	f := &mapstest.Film{Objects: 50, Frames: 300, Side: mapstest.Side, DT: 0.02, R: 0.3}
	m := mapped(f, f.Tracks(&before, 1), 1)
	add(m, f, f.Tracks(&after, 2))
	w := m.Law(nil)
	if len(w.Traps) != 1 || math.Hypot(w.Traps[0].X-156, w.Traps[0].Y-128) > 5 { // the old centre, 56 px away, counts 1/64 and moves the trap by 0.9 px
		t.Errorf("traps %+v, expected one at 156, 128", w.Traps)
	}
	whole := *m
	whole.cells = append([]cell(nil), m.cells...)
	for i := range whole.cells {
		whole.cells[i].scale(1 / m.gain)
	}
	whole.gain = 1
	a, b := m.Law(nil), whole.Law(nil)
	for i := range a.Cells {
		if p, q := a.Cells[i], b.Cells[i]; math.Abs(p.Drift[0]-q.Drift[0]) > 1e-6*p.SD[0] || math.Abs(p.D-q.D) > 1e-6*p.D { // rounding
			t.Fatalf("scaled back, %d: %+v became %+v", i, p, q)
		}
	}
}

// TestUnusable verifies that invalid steps are dropped, outside steps are counted, and a map without steps reports nothing.
func TestUnusable(t *testing.T) {
	for _, c := range []Config{{0, 1, 0}, {1, -1, 0}, {1, 1, -1}, {math.NaN(), 1, 0}, {math.Inf(1), 1, 0}} {
		if _, err := New(c); !errors.Is(err, ErrField) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	m, err := New(Config{Width: 100, Height: 30})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Step{{X: math.NaN(), DT: 1, Weight: 1}, {DT: 0, Weight: 1}, {DT: 1}, {X: 1, Y: 1, DX: math.NaN(), DT: 1, Weight: 1}} {
		m.Add(&s)
	}
	m.Add(&Step{X: 50, Y: 40, DT: 1, Weight: 1})
	if w := m.Law(nil); len(w.Cells) != 0 || m.Outside() != 1 {
		t.Errorf("found %+v, %g steps outside; expected no cell and 1 step outside", w, m.Outside())
	}
	m.Add(&Step{X: 50, Y: 10, DX: 1, DT: 1, Weight: 1})
	if w := m.Law(nil); len(w.Traps)+len(w.Vortices) > 0 {
		t.Errorf("after one step, found %+v", w)
	}
}

// TestArchive verifies that a restored map continues like the saved one, and that damage is detected.
func TestArchive(t *testing.T) {
	unusable := errors.New("unusable")
	f := &mapstest.Film{Objects: 10, Frames: 40, Side: 128, DT: 0.02, R: 0.3}
	m := mapped(f, f.Tracks(&mapstest.ASpring, 1), 2)
	out := archive.NewWriter(unusable)
	m.Archive(out)
	back, _ := New(m.config)
	in := archive.NewReader(out.Bytes(), unusable)
	back.Archive(in)
	if err := in.End(); err != nil || !reflect.DeepEqual(m, back) {
		t.Errorf("read back: %v", err)
	}
	other, _ := New(Config{Width: 64, Height: 128})
	in = archive.NewReader(out.Bytes(), unusable)
	if other.Archive(in); !errors.Is(in.Err(), unusable) {
		t.Errorf("a map of another field size: %v", in.Err())
	}
}

// TestAddAllocates verifies that Add allocates nothing.
func TestAddAllocates(t *testing.T) {
	m, _ := New(Config{Width: 100, Height: 100, HalfLife: 1})
	s := Step{X: 50, Y: 50, DX: 1, DT: 0.01, Weight: 1, Before: Before{1, 1, 1}}
	if n := testing.AllocsPerRun(100, func() { m.Pass(0.01); m.Add(&s) }); n > 0 {
		t.Errorf("%g allocations per step", n)
	}
}
