package states

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"driftscope/internal/suite"
)

const dt = 0.01

// never disables stray steps.
var never = math.Inf(-1)

// population simulates tracks of several states, each with its D and its share.
func population(seed uint64, film Film, tracks, frames int, states ...[2]float64) (out []Segment) {
	rng := rand.New(rand.NewPCG(seed, 1))
	for range tracks {
		u, k := rng.Float64(), 0
		for u >= states[k][1] && k < len(states)-1 {
			u -= states[k][1]
			k++
		}
		out = append(out, film.Draw(rng, states[k][0], frames))
	}
	return out
}

// TestLikelihood compares the recursion with the dense covariance, with gaps, unequal noise and blur, to rounding.
func TestLikelihood(t *testing.T) {
	s := Segment{Steps: []Step{{0.3, -0.1, 0.01}, {-0.2, 0.4, 0.03}, {0.1, 0.2, 0.01}, {0, -0.3, 0.02}}, Scale: []float64{1, 2, 0.5, 1, 3}, Weight: 1}
	for _, l := range []law{{2, 0.01, 0, never}, {2, 0.01, 0.01, never}, {0.01, 0.05, 0.005, never}, {5, 0, 0.01, never}} {
		n := len(s.Steps)
		c := mat.NewSymDense(n, nil)
		for i, step := range s.Steps {
			c.SetSym(i, i, 2*l.d*step.DT+l.place(s.Scale[i])+l.place(s.Scale[i+1]))
			if i > 0 {
				c.SetSym(i-1, i, -l.place(s.Scale[i]))
			}
		}
		normal, ok := distmv.NewNormal(make([]float64, n), c, nil)
		if !ok {
			t.Fatalf("%+v: no covariance", l)
		}
		x, y := make([]float64, n), make([]float64, n)
		for i, step := range s.Steps {
			x[i], y[i] = step.X, step.Y
		}
		want := normal.LogProb(x) + normal.LogProb(y)
		value, _ := s.slopes(l)
		if got := s.logLikelihood(l); math.Abs(got-want) > 1e-9 || math.Abs(value-want) > 1e-9 {
			t.Errorf("%+v: %.12f and %.12f, expected %.12f", l, got, value, want)
		}
	}
}

// TestGradients compares the gradients of mixtures, with and without a spread, with central differences of step 1e-5. Their error is 1e-10 times the third
// derivative.
func TestGradients(t *testing.T) {
	segments := population(1, Film{dt, dt / 2, 0.01}, 40, 12, [2]float64{1, 0.5}, [2]float64{6, 0.5})
	segments[3].Weight = 0.3
	f, _ := newFitting(segments, Options{Exposure: dt / 2})
	for _, c := range []struct {
		name string
		of   summit
		at   []float64
	}{
		{"one", f.likelihood(1), []float64{0.3, 0.2}},
		{"three", f.likelihood(3), []float64{-0.5, 0.8, 2, 0.3, -0.4, 0.2}},
		{"spread", f.spreadLikelihood(f.tabulate(0.01), 2), []float64{0, 1.9, 0.2, 0.4}},
	} {
		got := make([]float64, len(c.at))
		c.of(c.at, got)
		for k := range c.at {
			at := append([]float64(nil), c.at...)
			at[k] += 1e-5
			up := c.of(at, nil)
			at[k] -= 2e-5
			if want := (up - c.of(at, nil)) / 2e-5; math.Abs(got[k]-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s: derivative %d is %.6f, by differences %.6f", c.name, k, got[k], want)
			}
		}
	}
}

// TestPooled verifies that the 95 % intervals of the D of one state contain it in 89 to 99 % of 150 films, and that D is unbiased. The limits are three
// standard errors around 95 %, and a percentage point for noise at its bound.
func TestPooled(t *testing.T) {
	for _, c := range []struct {
		name           string
		noise, exposed float64 // noise in units of DΔt, exposure in units of dt
		tracks, frames int
	}{
		{"no noise", 0, 0, 30, 10},
		{"noise nine times the motion", 9, 0, 30, 20},
		{"exposed all the time", 1, 1, 30, 10},
		{"short", 1, 0, 30, 5},
	} {
		held, square, mean := 0, 0.0, 0.0
		const films, d = 150, 2.0
		for film := range films {
			l, ok := Infer(population(uint64(film), Film{dt, c.exposed * dt, c.noise * d * dt}, c.tracks, c.frames, [2]float64{d, 1}), Options{Exposure: c.exposed * dt, States: 1})
			if !ok {
				t.Fatal("no law")
			}
			if l.D.Low <= d && d <= l.D.High {
				held++
			}
			mean, square = mean+l.D.Value/films, square+(l.D.Value-d)*(l.D.Value-d)/films
		}
		if held < films*89/100 || held > films*99/100 {
			t.Errorf("%s: %d of %d intervals hold the truth", c.name, held, films)
		}
		if se := math.Sqrt(square / films); math.Abs(mean-d) > 4*se+0.02*d { // maximum likelihood from few steps has a bias of the order of its variance
			t.Errorf("%s: mean %.3f ± %.3f, expected %g", c.name, mean, se, d)
		}
	}
}

// TestStates simulates three states with D four times apart, in 300 tracks of 20 frames. The evidence selects three states without a spread, with D and
// fractions within four half-widths of their intervals. From tracks of one state it selects one.
func TestStates(t *testing.T) {
	film := Film{dt, 0, 0.01}
	for seed := range uint64(2) {
		l, _ := Infer(population(seed, film, 300, 20, [2]float64{1, 0.3}, [2]float64{4, 0.4}, [2]float64{16, 0.3}), Options{})
		if len(l.States) != 3 || l.Spread.Value != 0 {
			t.Fatalf("seed %d: states %+v, spread %+v", seed, l.States, l.Spread)
		}
		for j, d := range []float64{1, 4, 16} {
			s := l.States[j]
			if math.Abs(math.Log(s.D.Value/d)) > 2*math.Log(s.D.High/s.D.Low) {
				t.Errorf("seed %d: state %d has D %.3g, %.3g to %.3g, expected %g", seed, j, s.D.Value, s.D.Low, s.D.High, d)
			}
			if share := []float64{0.3, 0.4, 0.3}[j]; math.Abs(s.Fraction.Value-share) > 2*(s.Fraction.High-s.Fraction.Low) {
				t.Errorf("seed %d: state %d has %.3f, %.3f to %.3f, expected %g", seed, j, s.Fraction.Value, s.Fraction.Low, s.Fraction.High, share)
			}
		}
		if l, _ = Infer(population(seed, film, 300, 20, [2]float64{2, 1}), Options{}); len(l.States) != 1 || l.Spread.Value != 0 {
			t.Errorf("seed %d: for one state, found %+v, spread %+v", seed, l.States, l.Spread)
		}
	}
}

// TestSpread verifies that beads with an sd of ln D of 0.5 are one state whose interval of the spread contains 0.5. The D of each bead is closer to the truth
// than the mean D: 100 frames give ln D to 0.12.
func TestSpread(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	film := Film{dt, 0, 0.01}
	var segments []Segment
	var truth []float64
	for range 150 {
		d := 2 * math.Exp(0.5*rng.NormFloat64())
		truth = append(truth, d)
		segments = append(segments, film.Draw(rng, d, 100))
	}
	l, _ := Infer(segments, Options{})
	if len(l.States) != 1 || !(l.Spread.Low < 0.5 && 0.5 < l.Spread.High && l.Spread.High-l.Spread.Low < 0.3) {
		t.Fatalf("states %+v, spread %+v", l.States, l.Spread)
	}
	held, square := 0, 0.0
	for i, d := range truth {
		o := l.Objects[i].D
		if o.Low <= d && d <= o.High {
			held++
		}
		square += math.Pow(math.Log(o.Value/d), 2) / 150
	}
	if held < 132 || held > 149 { // 95 % of 150, minus and plus three standard errors of 2.7
		t.Errorf("%d of 150 intervals contain the object's own D", held)
	}
	if rms := math.Sqrt(square); rms > 0.2 {
		t.Errorf("the RMS error of ln D is %.3f", rms)
	}
}

// TestStray verifies that two wrong links change neither the states nor the mean D, which is known to 3 % without them.
func TestStray(t *testing.T) {
	segments := population(4, Film{dt, 0, 0.01}, 60, 30, [2]float64{2, 1})
	for _, k := range []int{3, 40} {
		segments[k].Steps[7].X += 40
		segments[k].Steps[8].Y -= 40
	}
	l, _ := Infer(segments, Options{})
	if len(l.States) != 1 || l.Spread.Value > 0.1 || math.Abs(l.D.Value/2-1) > 0.12 || !(l.D.High < 2.5) {
		t.Errorf("states %+v, spread %+v, D %+v", l.States, l.Spread, l.D)
	}
	for _, b := range Spectrum(segments, Options{}, l.MostNoise) {
		if b.D > 8 && b.Share > 0.01 {
			t.Errorf("%.3f of the spectrum at %g", b.Share, b.D)
		}
	}
}

// TestDeterminism verifies that the same segments give the same law, digit by digit.
func TestDeterminism(t *testing.T) {
	segments := population(3, Film{dt, 0, 0.01}, 60, 10, [2]float64{1, 0.5}, [2]float64{10, 0.5})
	a, _ := Infer(segments, Options{Depth: 3})
	b, _ := Infer(segments, Options{Depth: 3})
	if !reflect.DeepEqual(a, b) {
		t.Error("two runs differ")
	}
}

// TestNothing verifies that Infer finds no law in data without information.
func TestNothing(t *testing.T) {
	for name, segments := range map[string][]Segment{
		"no tracks":   nil,
		"no steps":    {{Weight: 1}},
		"no motion":   {{Weight: 1, Steps: []Step{{0, 0, dt}}}},
		"no weight":   {{Steps: []Step{{1, 0, dt}}}},
		"no time":     {{Weight: 1, Steps: []Step{{1, 0, 0}}}},
		"one has one": {{Weight: 1, Steps: []Step{{1, 0, dt}}}},
	} {
		l, ok := Infer(segments, Options{})
		if ok != (name == "one has one") {
			t.Errorf("%s: found %v", name, ok)
		}
		if ok && !(l.D.Low < l.D.Value && l.D.Value < l.D.High) {
			t.Errorf("%s: %+v", name, l.D)
		}
	}
}

// TestFinite verifies that all numbers are finite, even with more states than the evidence supports, and for tracks that hardly move.
func TestFinite(t *testing.T) {
	still := Segment{Weight: 1, Steps: []Step{{1e-9, 0, dt}, {0, 1e-9, dt}}}
	for name, segments := range map[string][]Segment{
		"six tracks":     population(1, Film{dt, 0, 0.01}, 6, 5, [2]float64{2, 1}),
		"one track":      population(1, Film{dt, 0, 0.01}, 1, 5, [2]float64{2, 1}),
		"some stand":     append(population(2, Film{dt, 0, 0}, 5, 6, [2]float64{2, 1}), still, still),
		"one runs off":   append(population(3, Film{dt, 0, 0.01}, 20, 6, [2]float64{2, 1}), Segment{Weight: 1, Steps: []Step{{1e4, 1e4, dt}}}),
		"all stand":      {still, still, still},
		"all jump alike": {{Weight: 1, Steps: []Step{{1, 0, dt}}}, {Weight: 1, Steps: []Step{{1, 0, dt}}}},
	} {
		for k := range 5 {
			l, ok := Infer(segments, Options{States: k, Depth: 1})
			if !ok {
				t.Fatalf("%s, %d states: no law", name, k)
			}
			numbers := []float64{l.D.Value, l.D.Low, l.D.High, l.Spread.Value, l.Noise, l.MostNoise}
			for _, s := range l.States {
				numbers = append(numbers, s.D.Value, s.D.Low, s.D.High, s.Fraction.Value, s.Fraction.Low, s.Fraction.High)
			}
			for _, b := range Spectrum(segments, Options{}, l.MostNoise) {
				numbers = append(numbers, b.D, b.Share)
			}
			for i, v := range numbers {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s, %d states: number %d is %g: %+v, D %+v", name, k, i, v, l.States, l.D)
					break
				}
			}
		}
	}
}

// TestInFocus compares InFocus with the fraction of simulated steps that stay in the slab, to four standard errors of 0.002.
func TestInFocus(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range []float64{0.1, 1, 10} {
		stay := 0
		const n, depth = 50_000, 0.7
		for range n {
			z := depth*rng.Float64() + math.Sqrt(2*d*dt)*rng.NormFloat64()
			if z > 0 && z < depth {
				stay++
			}
		}
		if got := InFocus(d, dt, depth); math.Abs(got-float64(stay)/n) > 0.009 {
			t.Errorf("D %g: found a fraction of %.4f, %.4f in the simulation", d, got, float64(stay)/n)
		}
	}
	if InFocus(1, dt, 0) != 1 || InFocus(0, dt, 1) != 1 {
		t.Error("without a depth, or without motion, the fraction is below 1")
	}
}

// TestFocusShares observes two states through a slab in focus, which shows only some of the steps of fast objects. It verifies that the depth raises the fast
// fraction by at least a fifth, and that spectrum and mixture agree to 0.05.
func TestFocusShares(t *testing.T) {
	suite.Calculation(t)
	rng := rand.New(rand.NewPCG(9, 9))
	const depth = 1.0 // px
	film := Film{DT: dt, Noise: 1e-4}
	var segments []Segment
	for range 6000 { // objects start anywhere in the slab; their track ends once they leave it
		d := []float64{0.2, 12}[rng.IntN(2)]
		z, frames := depth*rng.Float64(), 1
		for frames < 6 {
			if z += math.Sqrt(2*d*dt) * rng.NormFloat64(); z < 0 || z > depth {
				break
			}
			frames++
		}
		if s := film.Draw(rng, d, frames); len(s.Steps) > 0 {
			segments = append(segments, s)
		}
	}
	bare, _ := Infer(segments, Options{States: 2})
	l, _ := Infer(segments, Options{States: 2, Depth: depth})
	fast, seen := l.States[1].Fraction, bare.States[1].Fraction.Value
	// A fast object stays for 1.5 of its 5 steps. The correction restores objects seen for one step, but not those lost in the first step.
	if !(fast.Value > 1.2*seen) {
		t.Errorf("fast objects have %.3f of the time with the depth, %.3f without", fast.Value, seen)
	}
	share := 0.0
	for _, b := range Spectrum(segments, Options{Depth: depth}, l.MostNoise) {
		if b.D > 2 {
			share += b.Share
		}
	}
	if math.Abs(share-fast.Value) > 0.05 {
		t.Errorf("the fast fraction is %.3f in the spectrum, %.3f in the mixture", share, fast.Value)
	}
}
