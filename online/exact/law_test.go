package exact_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/exact"
	"driftscope/online/onlinetest"
)

// TestKinds verifies that Infer reports each law on tracks of that law only, with D to a tenth: five standard errors of 2,400 steps with noise. D of
// subdiffusion has no such bound, because its noise is poorly determined.
func TestKinds(t *testing.T) {
	suite.Calculation(t)
	for name, c := range map[string]struct {
		set  onlinetest.Set
		want exact.Kind
	}{
		"free":           {onlinetest.Set{Tracks: 30, Places: 80, D: 1, Noise: 0.3}, exact.Free},
		"unlike":         {onlinetest.Set{Tracks: 60, Places: 40, D: 1, DSpread: 0.7, Noise: 0.2}, exact.Free},
		"gaps":           {onlinetest.Set{Tracks: 30, Places: 80, D: 1, Noise: 0.3, Missing: 0.3}, exact.Free},
		"blurred":        {onlinetest.Set{Tracks: 30, Places: 80, D: 1, Noise: 0.3, Exposure: 1}, exact.Free},
		"trapped":        {onlinetest.Set{Tracks: 30, Places: 80, D: 1, Noise: 0.2, Rate: 0.2}, exact.Trapped},
		"subdiffusion":   {onlinetest.Set{Tracks: 30, Places: 80, D: 1, Noise: 0.1, Alpha: 0.5}, exact.Fractional},
		"superdiffusion": {onlinetest.Set{Tracks: 30, Places: 80, D: 1, Noise: 0.1, Alpha: 1.5}, exact.Fractional},
		"directed":       {onlinetest.Set{Tracks: 30, Places: 80, D: 1, Noise: 0.2, Speed: 0.6}, exact.Directed},
		"switching":      {onlinetest.Set{Tracks: 30, Places: 150, D: 0.1, Noise: 0.15, Fast: 2, Leave: 0.03}, exact.Switching},
		"two kinds":      {onlinetest.Set{Tracks: 60, Places: 80, D: 0.1, Noise: 0.15, Fast: 2, Still: true}, exact.Free},
		"bad places":     {onlinetest.Set{Tracks: 30, Places: 150, D: 1, Noise: 0.2, Bad: 6}, exact.Free},
	} {
		l, ok := exact.Infer(c.set.Draw(rand.New(rand.NewPCG(1, 2))), exact.Options{Exposure: c.set.Exposure})
		if !ok || l.Kind != c.want {
			t.Errorf("%s: found %v, gains %.1f, exponent %+v", name, l.Kind, l.Gains, l.Exponent)
			continue
		}
		t.Logf("%s: gains %.1f exponent %.2f D %.3f bad %g", name, l.Gains, l.Exponent, l.D, l.Bad)
		if c.set.Alpha > 0 && !(l.Exponent.Low < c.set.Alpha && c.set.Alpha < l.Exponent.High) {
			t.Errorf("%s: exponent %+v, expected %g", name, l.Exponent, c.set.Alpha)
		}
		if c.set.Fast == 0 && c.set.DSpread == 0 && c.set.Alpha != 0.5 && math.Abs(math.Log(l.D.Value)) > 0.12 {
			t.Errorf("%s: D %+v, expected 1", name, l.D)
		}
	}
}

// TestRivals verifies that weak evidence names no law: few subdiffusing tracks are never called trapped, and a bad localisation for a while that made a
// trap likelier than free diffusion by 6.9 nats is none.
func TestRivals(t *testing.T) {
	suite.Calculation(t)
	held := 0
	for seed := range uint64(6) {
		few := onlinetest.Set{Tracks: 5, Places: 100, D: 1, Noise: 0.3, Alpha: 0.5}
		l, _ := exact.Infer(few.Draw(rand.New(rand.NewPCG(78, seed))), exact.Options{})
		switch l.Kind {
		case exact.Held:
			held++
			if says := l.Says(1, "px", 0.1); !strings.Contains(says, "too short to tell") || l.Mapped() || !(l.D.Low < l.D.Value && l.D.Value < l.D.High) {
				t.Errorf("seed %d: %s", seed, says)
			}
		case exact.Trapped, exact.Directed, exact.Switching, exact.Late:
			t.Errorf("seed %d: %v, gains %.1f", seed, l.Kind, l.Gains)
		}
	}
	if held == 0 {
		t.Error("no set is undecided: the test sees nothing")
	}
	bad := onlinetest.Set{Tracks: 20, Places: 120, D: 1, Noise: 0.2, Bad: 5}
	if l, _ := exact.Infer(bad.Draw(rand.New(rand.NewPCG(77, 15))), exact.Options{}); l.Kind != exact.Free || l.Bad == 0 {
		t.Errorf("bad places: %v, gains %.1f, factor %g", l.Kind, l.Gains, l.Bad)
	}
}

// TestExponentHolds verifies that the interval of an exponent holds it in at least 9 of 12 sets with noise, which short tracks hardly tell from
// subdiffusion: an interval of 95 % does not in one of 5,000 tries, and one that ignores the noise held in half of the sets.
func TestExponentHolds(t *testing.T) {
	suite.Calculation(t)
	held, sum := 0, 0.0
	for seed := range uint64(12) {
		set := onlinetest.Set{Tracks: 30, Places: 60, D: 1, Noise: 0.5, Alpha: 0.5}
		l, _ := exact.Infer(set.Draw(rand.New(rand.NewPCG(80, seed))), exact.Options{})
		if sum += l.Exponent.Value / 12; l.Exponent.Low < 0.5 && 0.5 < l.Exponent.High {
			held++
		}
	}
	if held < 9 || math.Abs(sum-0.5) > 0.05 {
		t.Errorf("the intervals of %d sets hold 0.5; mean %.3f", held, sum)
	}
}

// TestDegenerate verifies that tracks without information give a remark but no number.
func TestDegenerate(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	line := onlinetest.Set{Tracks: 10, Places: 40, D: 1, Line: true}
	l, ok := exact.Infer(line.Draw(rng), exact.Options{})
	if !ok || l.Axes != [2]bool{true, false} || !strings.Contains(strings.Join(l.Remarks, " "), "along y") || l.Kind != exact.Free || math.Abs(math.Log(l.D.Value)) > 0.3 {
		t.Errorf("a line: %+v", l)
	}
	pixels := onlinetest.Set{Tracks: 10, Places: 40, D: 1, Grid: 3}
	if l, ok = exact.Infer(pixels.Draw(rng), exact.Options{}); !ok || !strings.Contains(strings.Join(l.Remarks, " "), "multiples of 3") {
		t.Errorf("whole pixels: %+v", l)
	}
	still := make(exact.Track, 50)
	for k := range still {
		still[k] = exact.Place{Frame: k, X: 5, Y: 6}
	}
	for name, c := range map[string]struct {
		tracks []exact.Track
		want   string
	}{
		"nothing moves": {[]exact.Track{still}, "Nothing moves"},
		"too few":       {onlinetest.Set{Tracks: 3, Places: 4, D: 1}.Draw(rng), "too few"},
		"none":          {nil, "too few"},
		"not a number":  {[]exact.Track{{{0, math.NaN(), 1}, {1, 2, 3}}}, "not a usable number"},
		"huge":          {[]exact.Track{{{0, 1e200, 1}, {1, 2, 3}}}, "not a usable number"},
	} {
		if l, ok := exact.Infer(c.tracks, exact.Options{}); ok || len(l.Remarks) != 1 || !strings.Contains(l.Remarks[0], c.want) {
			t.Errorf("%s: %v, %q", name, ok, l.Remarks)
		}
	}
}

// TestStates verifies the states of every track, and the frames of its changes.
func TestStates(t *testing.T) {
	suite.Calculation(t)
	set := onlinetest.Set{Tracks: 30, Places: 150, D: 0.1, Noise: 0.1, Fast: 2, Leave: 0.02}
	tracks := set.Draw(rand.New(rand.NewPCG(5, 6)))
	var laws [2]*exact.Law
	for i := range laws {
		laws[i], _ = exact.Infer(tracks, exact.Options{Each: true, Cores: i + 1})
	}
	l := laws[0]
	if l.Kind != exact.Switching || len(l.States) != 2 {
		t.Fatalf("found %+v", l)
	}
	for i, want := range []float64{0.1, 2} {
		if s := l.States[i]; math.Abs(math.Log(s.D.Value/want)) > 0.12 || s.D.Low > s.D.Value || s.D.High < s.D.Value || math.Abs(s.Share.Value-0.5) > 0.15 {
			t.Errorf("state %d: %+v", i, s)
		}
		if got := l.Leave[i][1-i]; got < 0.01 || got > 0.035 {
			t.Errorf("state %d is left with probability %g per frame, expected 0.02", i, got)
		}
	}
	changes := 0
	for i := range l.Objects {
		o := &l.Objects[i]
		changes += len(o.Changes)
		if len(o.Over) != len(tracks[i])-1 || math.Abs(o.State[0]+o.State[1]-1) > 1e-9 {
			t.Fatalf("object %d: %d steps, %v", i, len(o.Over), o.State)
		}
		for k := range o.Changes {
			if o.Changes[k] != laws[1].Objects[i].Changes[k] {
				t.Fatal("changes differ between one core and two")
			}
		}
	}
	if changes < 60 || changes > 110 { // expected 90, √90 = 9.5
		t.Errorf("found %d changes, expected about 90", changes)
	}
}
