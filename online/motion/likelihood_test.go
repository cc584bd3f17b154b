package motion

import (
	"math"
	"math/rand/v2"
	"testing"
)

// dense returns Σ e²/v over both axes and ln |C| of steps with a covariance, by Cholesky.
func dense(cov [][]float64, dx, dy []float64) (quad, logDet float64) {
	n := len(cov)
	l := make([][]float64, n)
	var zx, zy []float64
	for i := range n {
		l[i] = make([]float64, n)
		for j := 0; j <= i; j++ {
			v := cov[i][j]
			for k := range j {
				v -= l[i][k] * l[j][k]
			}
			if i == j {
				l[i][i] = math.Sqrt(v)
			} else {
				l[i][j] = v / l[j][j]
			}
		}
		x, y := dx[i], dy[i]
		for k := range i {
			x -= l[i][k] * zx[k]
			y -= l[i][k] * zy[k]
		}
		zx, zy = append(zx, x/l[i][i]), append(zy, y/l[i][i])
		quad += zx[i]*zx[i] + zy[i]*zy[i]
		logDet += 2 * math.Log(l[i][i])
	}
	return quad, logDet
}

// covariance returns the covariance of the places i and j at their times, the basis for the steps.
type covariance func(s *series, at []float64, i, j int) float64

// steps returns the covariance of the steps of a series.
func (c covariance) steps(s *series) [][]float64 {
	n := len(s.x)
	at := times(s)
	places := func(i, j int) float64 { return c(s, at, i, j) }
	cov := make([][]float64, n-1)
	for i := range cov {
		cov[i] = make([]float64, n-1)
		for j := range cov {
			cov[i][j] = places(i+1, j+1) + places(i, j) - places(i+1, j) - places(i, j+1)
		}
	}
	return cov
}

// track returns n random places, with or without missing frames, with equal or unequal variances.
func track(n int, missing, uneven bool) *series {
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	var places []Place
	t := 0.
	for range n {
		p := Place{rng.NormFloat64(), rng.NormFloat64(), t, 0}
		if uneven {
			p.Var = 0.5 + rng.Float64()
		}
		places = append(places, p)
		t++
		for missing && rng.IntN(3) == 0 {
			t++
		}
	}
	s := new(series)
	s.read(places)
	return s
}

// TestLikelihoods compares every fast likelihood with the full covariance, to rounding, 10⁻⁸ of the value.
func TestLikelihoods(t *testing.T) {
	const rho, k, alpha = 0.7, 0.3, 10 // α = 1.05
	for _, c := range []struct {
		name   string
		series *series
		fast   func(s *series) (quad, logDet float64)
		places covariance
	}{
		{"noise alone, variances that differ", track(30, true, true), func(s *series) (float64, float64) {
			var c chain
			c.run(s, false, 1, 0)
			return c.quad, c.logDet
		}, func(s *series, at []float64, i, j int) float64 { return place(i == j, s.weigh[i]) }},
		{"free, gaps, variances that differ", track(30, true, true), func(s *series) (float64, float64) {
			var c chain
			c.run(s, true, rho, 0)
			return c.quad, c.logDet
		}, func(s *series, at []float64, i, j int) float64 {
			return place(i == j, rho*s.weigh[i]) - math.Abs(at[i]-at[j])
		}},
		{"free, blurred", track(30, true, false), func(s *series) (float64, float64) {
			var c chain
			c.run(s, true, rho, 1./3)
			return c.quad, c.logDet
		}, func(s *series, at []float64, i, j int) float64 {
			return place(i == j, rho) - spread(math.Abs(at[i]-at[j]), 1, 1)
		}},
		{"trapped, gaps, variances that differ", track(30, true, true), func(s *series) (float64, float64) {
			return trapped(s, k, rho, 0)
		}, func(s *series, at []float64, i, j int) float64 {
			return place(i == j, rho*s.weigh[i]) + math.Exp(-k*math.Abs(at[i]-at[j]))/k
		}},
		{"fractional, as long as the memory", track(memory+2, false, false), fractionalCell(alpha, 6, 0), fractionalPlaces(alpha, 6, 0)},
		{"fractional, exposed all the time", track(memory+2, false, false), fractionalCell(4, 2, 1), fractionalPlaces(4, 2, 1)},
		{"fractional, gaps in the window", track(window+2, true, false), fractionalCell(4, 3, 0), fractionalPlaces(4, 3, 0)},
	} {
		s := c.series
		var dx, dy []float64
		for i := 1; i < len(s.x); i++ {
			dx, dy = append(dx, s.x[i]-s.x[i-1]), append(dy, s.y[i]-s.y[i-1])
		}
		quad, logDet := c.fast(s)
		wantQuad, wantLog := dense(c.places.steps(s), dx, dy)
		if math.Abs(quad-wantQuad) > 1e-8*wantQuad || math.Abs(logDet-wantLog) > 1e-8*(1+math.Abs(wantLog)) {
			t.Errorf("%s: quad %.10g and ln |C| %.10g, expected %.10g and %.10g", c.name, quad, logDet, wantQuad, wantLog)
		}
	}
}

func place(same bool, noise float64) float64 {
	if same {
		return noise
	}
	return 0
}

// times returns the times of the places, in frames.
func times(s *series) []float64 {
	t := make([]float64, len(s.dt))
	for i := 1; i < len(t); i++ {
		t[i] = t[i-1] + s.dt[i]/s.step
	}
	return t
}

func fractionalCell(a, r int, exposure float64) func(s *series) (float64, float64) {
	return func(s *series) (float64, float64) {
		f := new(fractional)
		f.prepare(s, exposure)
		f.likelihood(s, a, r)
		return f.quad[a][r], f.logDet[a][r]
	}
}

func fractionalPlaces(a, r int, exposure float64) covariance {
	return func(s *series, at []float64, i, j int) float64 {
		return place(i == j, ratioAt(r)) - spread(math.Abs(at[i]-at[j]), alphaAt(a), exposure)
	}
}

// TestMemory verifies that a memory of 32 loses at most 1.5 nats in 200 steps at the least exponent, and 0.2 in between. The steps are noise, the worst
// case for laws with a long memory.
// surprised most.
func TestMemory(t *testing.T) {
	for _, cell := range [][2]int{{0, 0}, {5, 5}, {10, 0}, {10, 9}, {19, 5}} {
		s := track(200, false, false)
		quad, logDet := fractionalCell(cell[0], cell[1], 0)(s)
		var dx, dy []float64
		for i := 1; i < len(s.x); i++ {
			dx, dy = append(dx, s.x[i]-s.x[i-1]), append(dy, s.y[i]-s.y[i-1])
		}
		wantQuad, wantLog := dense(fractionalPlaces(cell[0], cell[1], 0).steps(s), dx, dy)
		n := s.steps()
		off := jeffreys(quad, logDet, n) - jeffreys(wantQuad, wantLog, n)
		if math.Abs(off) > 1.5 {
			t.Errorf("α %.2f, ρ %.3f: %.3f nats off", alphaAt(cell[0]), ratioAt(cell[1]), off)
		}
	}
}

// TestIntegral verifies that parabolas integrate a normal law of sd a third of a grid step, at any position, to 2 %, with its mean to 0.02 and its
// deviation to 10 %.
func TestIntegral(t *testing.T) {
	for _, c := range []struct{ top, sd float64 }{{7, 0.4}, {7.3, 0.4}, {7.5, 0.4}, {6.9, 1.5}, {8, 0.35}} {
		var f [16]float64
		for i := range f {
			u := (float64(i) - c.top) / c.sd
			f[i] = 3 - u*u/2
		}
		log, mean, variance := integral(f[:])
		want := 3 + math.Log(c.sd*math.Sqrt(2*math.Pi))
		if math.Abs(log-want) > 0.02 || math.Abs(mean-c.top) > 0.02 || math.Abs(math.Sqrt(variance)/c.sd-1) > 0.1 {
			t.Errorf("top %g, deviation %g: ln %.4f expected %.4f, mean %.4f, deviation %.4f", c.top, c.sd, log, want, mean, math.Sqrt(variance))
		}
	}
}

// TestWindow verifies that the window loses at most 3 nats in 100 steps with gaps at the least and the greatest exponent, and 0.8 in between. The steps
// are noise, the worst case.
func TestWindow(t *testing.T) {
	for _, cell := range [][2]int{{0, 0}, {3, 2}, {5, 5}, {10, 9}, {15, 5}, {19, 5}} {
		s := track(101, true, false)
		quad, logDet := fractionalCell(cell[0], cell[1], 0)(s)
		var dx, dy []float64
		for i := 1; i < len(s.x); i++ {
			dx, dy = append(dx, s.x[i]-s.x[i-1]), append(dy, s.y[i]-s.y[i-1])
		}
		wantQuad, wantLog := dense(fractionalPlaces(cell[0], cell[1], 0).steps(s), dx, dy)
		n := s.steps()
		off := jeffreys(quad, logDet, n) - jeffreys(wantQuad, wantLog, n)
		most := 0.8
		if cell[0] == 0 || cell[0] == exponents-1 {
			most = 3
		}
		if math.Abs(off) > most {
			t.Errorf("α %.2f, ρ %.3f: %.3f nats off", alphaAt(cell[0]), ratioAt(cell[1]), off)
		}
	}
}
