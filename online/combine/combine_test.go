package combine

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// about returns a number with the given relative standard error.
func about(value, sd float64) Interval {
	return Interval{value, value * math.Exp(-normal95*sd), value * math.Exp(normal95*sd)}
}

// part returns a share with an interval of ± half.
func part(value, half float64) Interval { return Interval{value, value - half, value + half} }

// seen returns a camera whose states have the given D, with a standard error of ln D of sd, and equal shares.
func seen(sd float64, d ...float64) Camera {
	c := Camera{Name: "c", Tracks: 10_000, Steps: 1_000_000, D: about(1, sd)}
	n := float64(len(d))
	for _, v := range d {
		share := Interval{1, 1, 1}
		if n > 1 {
			share = part(1/n, 0.05)
		}
		c.States = append(c.States, State{about(v, sd), share})
	}
	return c
}

// width returns the standard error of ln D of an interval.
func (i Interval) width() float64 { return math.Log(i.High/i.Low) / (2 * normal95) }

// TestSame: n cameras with the same law give a standard error of 1/√n of one camera's.
func TestSame(t *testing.T) {
	for _, c := range []struct {
		cameras int
		sd      float64
	}{{2, 0.02}, {2, 0.1}, {8, 0.02}} {
		var cameras []Camera
		for range c.cameras {
			cameras = append(cameras, seen(c.sd, 2))
		}
		l := Pool(cameras)
		want := c.sd / math.Sqrt(float64(c.cameras))
		if len(l.States) != 1 || math.Abs(l.States[0].D.Value-2) > 1e-6 || math.Abs(l.States[0].D.width()/want-1) > 1e-6 || l.Differ != 0 { // the bisection's
			t.Errorf("%d cameras known to %g: %+v, expected a standard error of %g", c.cameras, c.sd, l, want)
		}
		if l.Steps != uint64(c.cameras)*1_000_000 || l.Tracks != uint64(c.cameras)*10_000 {
			t.Errorf("%d steps of %d tracks", l.Steps, l.Tracks)
		}
	}
}

// TestAlone: Pool returns the law of a single camera unchanged.
func TestAlone(t *testing.T) {
	c := seen(0.05, 0.1, 1)
	c.Rates, c.Nats = []float64{math.NaN(), 2, 3, math.NaN()}, 7
	l := Pool([]Camera{c})
	for j, s := range l.States {
		for _, n := range [][2]float64{{s.D.Value, c.States[j].D.Value}, {s.D.Low, c.States[j].D.Low}, {s.D.High, c.States[j].D.High}, {s.Share.Value, c.States[j].Share.Value}} {
			if math.Abs(n[0]/n[1]-1) > 1e-6 { // the bisection's
				t.Errorf("state %d: %+v, expected %+v", j, s, c.States[j])
			}
		}
	}
	if l.Rates[1] != 2 || l.Rates[2] != 3 || l.Nats != 7 {
		t.Errorf("rates %v, evidence %g", l.Rates, l.Nats)
	}
}

// TestStates: Pool finds which states of several cameras are the same.
func TestStates(t *testing.T) {
	low := Interval{1e-9, 0, 1e-3}
	bound := seen(0.05, 1, 1)
	bound.States[0].D = low
	for _, c := range []struct {
		what    string
		cameras []Camera
		seen    []int
	}{
		{"the same", []Camera{seen(0.05, 0.1, 1), seen(0.05, 0.1, 1)}, []int{2, 2}},
		{"a tenth apart, far beyond the errors", []Camera{seen(0.01, 0.1, 1), seen(0.01, 0.11, 1.1), seen(0.01, 0.09, 0.9)}, []int{3, 3}},
		{"one of two states alone", []Camera{seen(0.05, 0.1, 1), seen(0.05, 1)}, []int{1, 2}},
		{"the other", []Camera{seen(0.05, 0.1, 1), seen(0.05, 0.1)}, []int{2, 1}},
		{"ten times apart", []Camera{seen(0.05, 0.1), seen(0.05, 1)}, []int{1, 1}},
		{"three times apart, but hardly known", []Camera{seen(0.6, 0.3), seen(0.6, 0.9)}, []int{2}},
		{"between two states of another", []Camera{seen(0.05, 0.01, 1), seen(0.05, 0.1)}, []int{1, 1, 1}},
		{"states of one camera stay apart", []Camera{seen(0.2, 1, 1.1), seen(0.2, 1.05)}, []int{1, 2}},
		{"a state that one camera sees", []Camera{seen(0.05, 0.1, 1), seen(0.05, 0.1, 1), seen(0.05, 0.1, 1, 30)}, []int{3, 3, 1}},
		{"bounds from above", []Camera{bound, bound}, []int{2, 2}},
		{"a bound, and what is below it", []Camera{bound, seen(0.05, 5e-4, 1)}, []int{2, 2}},
		{"a bound, and what is far above it", []Camera{bound, seen(0.05, 0.05, 1)}, []int{1, 1, 2}},
	} {
		for range 2 { // in both orders
			l := Pool(c.cameras)
			all := 0.0
			for i, s := range l.States {
				all += s.Share.Value
				if !(s.D.Low <= s.D.Value && s.D.Value <= s.D.High && s.Share.Low <= s.Share.Value && s.Share.Value <= s.Share.High) || i > 0 && s.D.Value < l.States[i-1].D.Value {
					t.Errorf("%s: state %d is %+v", c.what, i, s)
				}
			}
			if math.Abs(all-1) > 1e-9 {
				t.Errorf("%s: shares add up to %g", c.what, all)
			}
			if len(l.Seen) != len(c.seen) {
				t.Fatalf("%s: found states seen by %v, expected %v: %s", c.what, l.Seen, c.seen, l.Says())
			}
			ordered := append([]int(nil), l.Seen...)
			for i := range ordered {
				if c.what != "states of one camera stay apart" && ordered[i] != c.seen[i] {
					t.Errorf("%s: found states seen by %v, expected %v: %s", c.what, l.Seen, c.seen, l.Says())
				}
			}
			last := len(c.cameras) - 1
			c.cameras[0], c.cameras[last] = c.cameras[last], c.cameras[0]
		}
	}
}

// TestBound: two equal upper bounds combine to a bound 1/√2 as high, which does not depend on the cameras' estimates of ln D.
func TestBound(t *testing.T) {
	c := seen(0.05, 1e-9)
	c.States[0].D = Interval{1e-9, 0, 1e-3}
	d := Pool([]Camera{c, c}).States[0].D
	if d.Low != 0 || math.Abs(d.High/(1e-3/math.Sqrt2)-1) > 1e-3 {
		t.Errorf("found %+v", d)
	}
}

// TestCoverage: in 400 simulations, with and without differences between cameras, the pooled 95 % interval contains the truth in 0.92 to 0.98 of cases: 0.95
// within 2.7 standard deviations of a binomial law.
func TestCoverage(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []struct {
		cameras     int
		sd, between float64
		seed        uint64
	}{{2, 0.05, 0, 1}, {3, 0.05, 0, 2}, {6, 0.05, 0, 3}, {3, 0.05, 0.05, 4}, {3, 0.03, 0.15, 5}, {3, 0.02, 0.2, 6}, {6, 0.02, 0.2, 7}, {4, 0.1, 0.1, 8}} {
		rng := rand.New(rand.NewPCG(c.seed, 1))
		const draws = 400
		held, simple, mean, told, shares := 0, 0, 0, 0, 0
		for range draws {
			var cameras []Camera
			for range c.cameras {
				differ := c.between * rng.NormFloat64()
				one := seen(c.sd, math.Exp(differ+c.sd*rng.NormFloat64()), 50*math.Exp(c.between*rng.NormFloat64()+c.sd*rng.NormFloat64()))
				p := logistic(logit(0.3) + c.between*rng.NormFloat64() + 0.1*rng.NormFloat64())
				at := logit(p)
				s := Interval{p, logistic(at - 0.1*normal95), logistic(at + 0.1*normal95)}
				one.States[0].Share, one.States[1].Share = s, Interval{1 - p, 1 - s.High, 1 - s.Low}
				one.D = about(math.Exp(differ+c.sd*rng.NormFloat64()), c.sd)
				cameras = append(cameras, one)
			}
			l := Pool(cameras)
			if len(l.States) != 2 {
				continue // counts as missed
			}
			count := func(n *int, i Interval, truth float64) {
				if i.Low <= truth && truth <= i.High {
					*n++
				}
			}
			count(&held, l.States[0].D, 1)
			count(&mean, l.D, 1)
			count(&shares, l.States[0].Share, 0.3)
			count(&simple, derSimonian(cameras), 1)
			if l.Differ > 0 {
				told++
			}
		}
		t.Logf("%d cameras with errors of %g that differ by %g: %.3f of states covered, %.3f of means, %.3f of shares (DerSimonian and Laird: %.3f); reported as different in %.3f", c.cameras, c.sd, c.between,
			float64(held)/draws, float64(mean)/draws, float64(shares)/draws, float64(simple)/draws, float64(told)/draws)
		for _, n := range []int{held, mean, shares} {
			if share := float64(n) / draws; share < 0.92 || share > 0.98 {
				t.Errorf("%d cameras with errors of %g that differ by %g: the interval contains the truth in %.3f", c.cameras, c.sd, c.between, share)
			}
		}
		if c.between == 0 && told > draws/20 {
			t.Errorf("equal cameras were reported as different in %d of %d cases", told, draws)
		}
	}
}

// derSimonian returns the estimate of DerSimonian and Laird for the first state, with a normal interval, for comparison with Pool.
func derSimonian(cameras []Camera) Interval {
	var w, w2, wx, q float64
	for _, c := range cameras {
		v := 1 / math.Pow(c.States[0].D.width(), 2)
		w, w2, wx = w+v, w2+v*v, wx+v*math.Log(c.States[0].D.Value)
	}
	for _, c := range cameras {
		q += math.Pow(math.Log(c.States[0].D.Value)-wx/w, 2) / math.Pow(c.States[0].D.width(), 2)
	}
	tau2 := max(0, (q-float64(len(cameras)-1))/(w-w2/w))
	w, wx = 0, 0
	for _, c := range cameras {
		v := 1 / (math.Pow(c.States[0].D.width(), 2) + tau2)
		w, wx = w+v, wx+v*math.Log(c.States[0].D.Value)
	}
	return about(math.Exp(wx/w), 1/math.Sqrt(w))
}

// TestSays: the sentence describes the law and reports differing cameras.
func TestSays(t *testing.T) {
	two := seen(0.01, 0.1, 1)
	two.Rates, two.Nats = []float64{0, 1, 2, 0}, 5
	rate := two
	rate.Rates = []float64{0, 3, 4, 0}
	spread := seen(0.05, 1)
	spread.Spread = Interval{0.4, 0.3, 0.5}
	bound := seen(0.05, 1)
	bound.States[0].D = Interval{1e-9, 0, 1e-3}
	for want, cameras := range map[string][]Camera{
		"2 cameras: all objects diffuse alike: D 2 (": {seen(0.05, 2), seen(0.05, 2)},
		"objects switch between them.":                {two, rate},
		"(seen by 1)":                                 {two, seen(0.01, 1)},
		"cameras differ by ":                          {seen(0.01, 1, 100), seen(0.01, 1.2, 120), seen(0.01, 0.8, 80)},
		"with D spread by 49 %":                       {spread, spread},
		"D below 0.00071 µm²/s":                       {bound, bound},
	} {
		if l := Pool(cameras); !strings.Contains(l.Says(), want) {
			t.Errorf("found %q, expected %q in it", l.Says(), want)
		}
	}
	if l := Pool([]Camera{two, rate}); l.Rates[1] != 2 || l.Rates[2] != 3 || l.Nats != 10 {
		t.Errorf("rates %v, evidence %g", l.Rates, l.Nats)
	}
	if l := Pool([]Camera{two, seen(0.01, 1)}); l.Rates != nil || l.Nats != 0 || math.Abs(l.States[0].Share.Value-0.25) > 1e-9 {
		t.Errorf("found %+v", l)
	}
}

// TestCheck: Check refuses an impossible law.
func TestCheck(t *testing.T) {
	good := seen(0.05, 0.1, 1)
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(*Camera){
		"0 states":            func(c *Camera) { c.States = nil },
		"0 steps":             func(c *Camera) { c.Steps = 0 },
		"state 1: D NaN":      func(c *Camera) { c.States[0].D.Value = math.NaN() },
		"state 1: D 0 ":       func(c *Camera) { c.States[0].D = Interval{} },
		"state 2: D 1 (2":     func(c *Camera) { c.States[1].D.Low = 2 },
		"state 2: share 3":    func(c *Camera) { c.States[1].Share.Value, c.States[1].Share.High = 3, 3 },
		"shares that add up":  func(c *Camera) { c.States[1].Share = part(0.1, 0.01) },
		"mean D -1":           func(c *Camera) { c.D = Interval{-1, -2, 0} },
		"spread +Inf":         func(c *Camera) { c.Spread = Interval{math.Inf(1), 0, math.Inf(1)} },
		"3 rates of 2 states": func(c *Camera) { c.Rates = make([]float64, 3) },
		"a rate of -1/s":      func(c *Camera) { c.Rates = []float64{0, -1, 1, 0} },
		"evidence of NaN":     func(c *Camera) { c.Nats = math.NaN() },
	} {
		c := seen(0.05, 0.1, 1)
		spoil(&c)
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// FuzzPool: for all laws that pass Check, Pool returns valid states, ordered by D, with shares that add up.
func FuzzPool(f *testing.F) {
	f.Add(1.0, 0.9, 1.1, 2.0, 1.5, 3.0, 0.3, uint64(100), uint64(10))
	f.Add(1e-300, 0.0, 1e-299, 1e300, 1e-300, 1e308, 0.0, uint64(1), uint64(math.MaxUint64))
	f.Fuzz(func(t *testing.T, d, low, high, e, least, most, share float64, steps, others uint64) {
		a := Camera{Tracks: steps, Steps: steps, D: Interval{d, low, high}, States: []State{{Interval{d, low, high}, Interval{share, 0, 1}}, {Interval{e, least, most}, Interval{1 - share, 0, 1}}}}
		b := Camera{Tracks: others, Steps: others, States: []State{{Interval{e, least, most}, Interval{1, 1, 1}}}}
		if a.Check() != nil || b.Check() != nil {
			return
		}
		l := Pool([]Camera{a, b})
		all := 0.0
		for _, s := range l.States {
			all += s.Share.Value
			for _, n := range []float64{s.D.Value, s.D.High, s.Share.Value, s.Share.Low, s.Share.High} {
				if math.IsNaN(n) || n < 0 {
					t.Fatalf("found state %+v from %+v and %+v", s, a, b)
				}
			}
		}
		if math.Abs(all-1) > 2*tolerance {
			t.Fatalf("shares add up to %g for %+v and %+v", all, a, b)
		}
		l.Says()
	})
}

// BenchmarkPool times the largest allowed number of cameras and states.
func BenchmarkPool(b *testing.B) {
	var cameras []Camera
	for i := range MostCameras {
		cameras = append(cameras, seen(0.02, 0.01*(1+0.001*float64(i)), 0.1, 1, 10, 100, 1000))
	}
	for b.Loop() {
		Pool(cameras)
	}
}
