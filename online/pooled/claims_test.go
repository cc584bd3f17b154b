package pooled

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/exact"
	"driftscope/online/onlinetest"
	"driftscope/online/states"
)

// lawOf returns the law that a learner finds from tracks at the end of a run.
func lawOf(t *testing.T, tracks []exact.Track) *Law {
	t.Helper()
	l := New(Config{Deterministic: true})
	defer l.Close()
	if err := l.Begin(256, 256); err != nil {
		t.Fatal(err)
	}
	for _, track := range tracks {
		var trail Trail
		for k := 1; k < len(track); k++ {
			a, b := track[k-1], track[k]
			trail.Step(states.Step{X: b.X - a.X, Y: b.Y - a.Y, DT: dt * float64(b.Frame-a.Frame)}, 1, 1, l.Keep)
			l.Count(1)
		}
		trail.Cut(l.Keep)
	}
	if !l.Finish(1, nil) {
		t.Fatal("no law")
	}
	return l.Law()
}

// vesicles returns tracks with one D each: the sd of a step is uniform from 1 to 3, as in the scene vesicle.
func vesicles(rng *rand.Rand) (out []exact.Track) {
	for range 60 {
		sd := 1 + 2*rng.Float64()
		out = append(out, onlinetest.Set{Tracks: 1, Places: 40, D: sd * sd / 2, Noise: 0.2}.Draw(rng)...)
	}
	return out
}

// TestNoFalseClaim simulates sets of tracks without states. At most one law may claim states or a wrong kind; one in a hundred is expected.
func TestNoFalseClaim(t *testing.T) {
	suite.Calculation(t)
	sets, wrong := 1, 0
	if !testing.Short() {
		sets = 5
	}
	for name, c := range map[string]struct {
		set onlinetest.Set
		may exact.Kind
	}{
		"free":       {onlinetest.Set{Tracks: 30, Places: 40, D: 1, Noise: 0.3}, exact.Free},
		"vesicle":    {onlinetest.Set{}, exact.Free},
		"trapped":    {onlinetest.Set{Tracks: 20, Places: 60, D: 1, Noise: 0.2, Rate: 0.2}, exact.Trapped},
		"fractional": {onlinetest.Set{Tracks: 30, Places: 60, D: 1, Noise: 0.1, Alpha: 0.5}, exact.Fractional},
		"a line":     {onlinetest.Set{Tracks: 30, Places: 40, D: 1, Noise: 0.3, Line: true}, exact.Free},
		"short":      {onlinetest.Set{Tracks: 200, Places: 5, D: 1, Noise: 0.3}, exact.Free},
	} {
		for seed := range uint64(sets) {
			rng := rand.New(rand.NewPCG(seed, 53))
			tracks := c.set.Draw(rng)
			if name == "vesicle" {
				tracks = vesicles(rng)
			}
			l := lawOf(t, tracks)
			if m := l.Motion; len(l.Mixture.States) > 1 || l.Mixture.Lag > 1 || m == nil || m.Kind != exact.Free && m.Kind != c.may {
				wrong++
				t.Logf("%s, seed %d: %s", name, seed, l.Says(0))
			} else if m.Mapped() && (name == "a line" || name == "fractional") {
				t.Errorf("%s, seed %d: the map may claim traps and a flow", name, seed)
			}
		}
	}
	if wrong > 1 {
		t.Errorf("%d false claims in %d sets", wrong, 6*sets)
	}
}

// TestSwitching verifies that switching between two states is found, with D in frames of the film.
func TestSwitching(t *testing.T) {
	suite.Calculation(t)
	l := lawOf(t, onlinetest.Set{Tracks: 40, Places: 40, D: 0.1, Fast: 1, Leave: 0.05, Noise: 0.1}.Draw(rand.New(rand.NewPCG(7, 8))))
	if !l.Switching() || len(l.Motion.States) != 2 || l.Frame != dt {
		t.Fatalf("%s; a frame of %g s", l.Says(0), l.Frame)
	}
	for i, want := range []float64{0.1, 1} { // 1,600 steps give D to 5 %, and brief visits count as part of the other state
		if d := l.Motion.States[i].D.Value; math.Abs(math.Log(d/want)) > 0.3 {
			t.Errorf("state %d: D %g per frame, expected %g", i, d, want)
		}
	}
}
