package interactions

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"driftscope/internal/kit/archive"
	"driftscope/online/onlinetest"
)

// shown returns an estimator that has seen a film of soft discs.
func shown(t testing.TB, c Config, film *onlinetest.Pairs, n int) *Estimator {
	t.Helper()
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	frames(film, n, 0, func(f *Frame) {
		if err := e.Update(f); err != nil {
			t.Fatal(err)
		}
	})
	return e
}

// TestHardDiscs: discs that cannot pass through each other show a force at contact, and none further than a step beyond contact.
func TestHardDiscs(t *testing.T) {
	const diameter = 6.0
	film := &onlinetest.Pairs{Seed: 1, Objects: 200, Side: side, D: 5, Noise: 0.1, Frame: 0.02, Parts: 20, Diameter: diameter}
	e := shown(t, Config{Width: side, Height: side, Reach: reach}, film, 300)
	var c Curve
	e.Curve(&c)
	if c.Evidence < 10 {
		t.Errorf("evidence %.1f for a contact", c.Evidence)
	}
	square, n := 0.0, 0.0
	for k, r := range c.R {
		if r > diameter+1.26 { // 2√(2·2DΔt), from which 1 in 40 relative steps ends in contact
			square, n = square+c.F[k]*c.F[k]/(c.SE[k]*c.SE[k]), n+1
		}
	}
	if rms := math.Sqrt(square / n); rms > 1.7 { // one film has about 6 independent positions: 1 ± 0.3, and two of these are allowed
		t.Errorf("beyond contact the curve is %.2f standard errors from zero", rms)
	}
}

// TestForgetting: a force that has ended is forgotten.
func TestForgetting(t *testing.T) {
	e := shown(t, Config{Width: side, Height: side, Reach: reach, Memory: 2}, &onlinetest.Pairs{Seed: 2, Objects: 200, Side: side, D: 5, Frame: 0.02, Parts: 4, Force: onlinetest.SoftForce, Cutoff: reach}, 200)
	var before, after Curve
	e.Curve(&before)
	free := &onlinetest.Pairs{Seed: 3, Objects: 200, Side: side, D: 5, Frame: 0.02, Parts: 1}
	begin := e.last + 1
	e.Cut()
	frames(free, 500, 0, func(f *Frame) {
		f.T += begin
		if err := e.Update(f); err != nil {
			t.Fatal(err)
		}
	})
	e.Curve(&after)
	if before.Evidence < 10 || after.Evidence > 2 { // after five times Memory; by chance one film in thirty has more than 0
		t.Errorf("evidence %.1f with the force, %.1f after it", before.Evidence, after.Evidence)
	}
	if before.Steps < 8000 || after.Steps > 16000 { // 100 frames of 142 objects away from the edge
		t.Errorf("%.0f steps, then %.0f", before.Steps, after.Steps)
	}
}

// TestCarried: a stage that moves by 1 px per frame changes nothing if the caller gives its motion as ShiftX and ShiftY.
func TestCarried(t *testing.T) {
	film := &onlinetest.Pairs{Seed: 4, Objects: 60, Side: side, D: 5, Frame: 0.02, Parts: 4, Force: onlinetest.SoftForce, Cutoff: reach}
	c := Config{Width: side, Height: side, Reach: reach, Closed: true}
	still := shown(t, c, film, 60)
	moved, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	by := 0.0
	frames(film, 60, 0, func(f *Frame) {
		for i := range f.X {
			f.X[i] += by
		}
		by, f.ShiftX = by+1, 1
		if err := moved.Update(f); err != nil {
			t.Fatal(err)
		}
	})
	var a, b Curve
	still.Curve(&a)
	moved.Curve(&b)
	for k := range a.F {
		if math.Abs(a.F[k]-b.F[k]) > 1e-6*(1+math.Abs(a.F[k])) { // sums of positions of about 300 px
			t.Fatalf("at %.1f px found %.6f, and %.6f with a moving stage", a.R[k], a.F[k], b.F[k])
		}
	}
}

// TestArchive: sums are restored exactly, and only for the same picture size and reach.
func TestArchive(t *testing.T) {
	film := &onlinetest.Pairs{Seed: 5, Objects: 60, Side: side, D: 5, Frame: 0.02, Parts: 4, Force: onlinetest.SoftForce, Cutoff: reach}
	c := Config{Width: side, Height: side, Reach: reach}
	e := shown(t, c, film, 100)
	unusable := errors.New("unusable")
	w := archive.NewWriter(unusable)
	e.Archive(w)
	back, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	r := archive.NewReader(w.Bytes(), unusable)
	if back.Archive(r); r.End() != nil {
		t.Fatal(r.End())
	}
	var a, b Curve
	e.Curve(&a)
	back.Curve(&b)
	for k := range a.F {
		if a.F[k] != b.F[k] || a.SE[k] != b.SE[k] || a.Evidence != b.Evidence {
			t.Fatalf("knot %d: restored %g ± %g, expected %g ± %g", k, b.F[k], b.SE[k], a.F[k], a.SE[k])
		}
	}
	c.Reach = 10
	other, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	r = archive.NewReader(w.Bytes(), unusable)
	if other.Archive(r); !errors.Is(r.End(), unusable) || !strings.Contains(r.End().Error(), "reach") {
		t.Errorf("sums for a different reach: %v", r.End())
	}
}

// TestMistakes: invalid input is refused and leaves the estimator unchanged.
func TestMistakes(t *testing.T) {
	for _, c := range []Config{{}, {Width: 10, Height: 10}, {Width: 10, Height: 10, Reach: 11}, {Width: 10, Height: 10, Reach: 5, Resolution: 5}, {Width: 10, Height: 10, Reach: 5, Memory: -1}, {Width: math.NaN(), Height: 10, Reach: 5}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
	e, err := New(Config{Width: 10, Height: 10, Reach: 5})
	if err != nil {
		t.Fatal(err)
	}
	one := []float64{1}
	f := Frame{T: 1, ID: []uint64{1}, X: one, Y: one, Variance: one, Weight: one}
	if err := e.Update(&f); err != nil {
		t.Fatal(err)
	}
	if err := e.Update(&f); err == nil {
		t.Error("a frame with the time of the last frame was accepted")
	}
	f.T, f.X = 2, nil
	if err := e.Update(&f); err == nil {
		t.Error("a frame without positions was accepted")
	}
	var c Curve
	if e.Curve(&c); c.Evidence != 0 || !math.IsInf(c.SE[3], 1) || len(c.R) != Knots {
		t.Errorf("found the curve %+v without a step", c)
	}
}

// TestStill: objects at rest, located without error, cause no division by zero.
func TestStill(t *testing.T) {
	e, err := New(Config{Width: 100, Height: 100, Reach: 10, Closed: true})
	if err != nil {
		t.Fatal(err)
	}
	f := Frame{ID: []uint64{1, 2}, X: []float64{50, 53}, Y: []float64{50, 50}, Variance: []float64{0, 0}, Weight: []float64{1, 1}}
	for range 300 {
		f.T += 0.02
		if err := e.Update(&f); err != nil {
			t.Fatal(err)
		}
	}
	var c Curve
	e.Curve(&c)
	for k := range c.F {
		if math.IsNaN(c.F[k]) || math.IsNaN(c.SE[k]) || math.IsNaN(c.Evidence) {
			t.Fatalf("knot %d: %g ± %g, evidence %g", k, c.F[k], c.SE[k], c.Evidence)
		}
	}
}

// BenchmarkUpdate times a frame of 1000 objects with 2.4 neighbours each. At 50 frames/s, 50 frames should take at most a tenth of a second.
func BenchmarkUpdate(b *testing.B) {
	const objects, side = 1000, 720
	rng := rand.New(rand.NewPCG(1, 1))
	e, err := New(Config{Width: side, Height: side, Reach: reach})
	if err != nil {
		b.Fatal(err)
	}
	f := Frame{}
	for i := range objects {
		f.ID, f.X, f.Y = append(f.ID, uint64(i)), append(f.X, side*rng.Float64()), append(f.Y, side*rng.Float64())
		f.Variance, f.Weight = append(f.Variance, 0.05), append(f.Weight, 1)
	}
	step := func() {
		f.T += 0.02
		for i := range f.X {
			f.X[i], f.Y[i] = f.X[i]+0.4*rng.NormFloat64(), f.Y[i]+0.4*rng.NormFloat64()
		}
		if err := e.Update(&f); err != nil {
			b.Fatal(err)
		}
	}
	for range 100 {
		step()
	}
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}

// BenchmarkCurve times the posterior.
func BenchmarkCurve(b *testing.B) {
	e := shown(b, Config{Width: side, Height: side, Reach: reach}, &onlinetest.Pairs{Seed: 1, Objects: 100, Side: side, D: 5, Frame: 0.02, Parts: 1}, 50)
	var c Curve
	e.Curve(&c)
	b.ReportAllocs()
	for b.Loop() {
		e.Curve(&c)
	}
}

// TestAllocations: a frame allocates nothing once an earlier frame had as many objects.
func TestAllocations(t *testing.T) {
	film := &onlinetest.Pairs{Seed: 6, Objects: 100, Side: side, D: 5, Frame: 0.02, Parts: 1}
	var all []Frame
	frames(film, 200, 0, func(f *Frame) {
		f.ID = append([]uint64(nil), f.ID...)
		for i := range f.ID {
			f.ID[i] = uint64(i) // the same objects, because a new object adds a map entry
		}
		all = append(all, Frame{T: f.T, ID: f.ID, X: append([]float64(nil), f.X...), Y: append([]float64(nil), f.Y...), Variance: append([]float64(nil), f.Variance...), Weight: append([]float64(nil), f.Weight...)})
	})
	e, err := New(Config{Width: side, Height: side, Reach: reach})
	if err != nil {
		t.Fatal(err)
	}
	for i := range all[:100] {
		if err := e.Update(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	at := 100
	if n := testing.AllocsPerRun(90, func() {
		if err := e.Update(&all[at]); err != nil {
			t.Fatal(err)
		}
		at++
	}); n > 0.05 { // the list of pairs may grow once more
		t.Errorf("%.2f allocations per frame", n)
	}
}
