package population

import (
	"math"
	"math/rand/v2"
	"testing"
)

// film returns the Law of a Brownian track of n positions with diffusion d, px²/s, localisation sd noise, px, and frame interval dt, s. exposed is the
// exposure as a fraction of a frame.
func film(rng *rand.Rand, n int, d, noise, dt, exposed float64) *Law {
	const parts = 20 // simulation steps per frame
	l, x, y := &Law{}, 0.0, 0.0
	sd := math.Sqrt(2 * d * dt / parts)
	for frame := range n {
		var mx, my, m float64
		for part := range parts {
			if part == 0 || float64(part) < exposed*parts {
				mx, my, m = mx+x, my+y, m+1
			}
			x, y = x+sd*rng.NormFloat64(), y+sd*rng.NormFloat64()
		}
		l.Add(Place{mx/m + noise*rng.NormFloat64(), my/m + noise*rng.NormFloat64(), float64(frame) * dt, 1}, &Common{})
	}
	return l
}

// TestDiffusion: over 400 tracks the mean of D is right to 4 standard errors, whatever the noise and the blur. The intervals contain the truth in 90 to 99 %
// of tracks, a little less for eleven steps, which are too few for a normal law. The noise is right to 15 %.
func TestDiffusion(t *testing.T) {
	for _, c := range []struct {
		name              string
		d, noise, exposed float64
		frames            int
		least             int // least percentage of intervals that contain the truth
	}{
		{"no noise", 2, 0, 0, 60, 90},
		{"noise as large as a step", 2, 0.2, 0, 60, 90},
		{"noise five times a step", 0.05, 0.2, 0, 200, 90},
		{"exposed all the time", 2, 0.1, 1, 60, 90},
		{"short", 2, 0.05, 0, 12, 85},
	} {
		t.Run(c.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			const tracks, dt = 400, 0.01
			var sum, square, noise float64
			held := 0
			for range tracks {
				e := film(rng, c.frames, c.d, c.noise, dt, c.exposed).Diffusion(c.exposed*dt, false)
				sum, square, noise = sum+e.D, square+e.D*e.D, noise+e.Noise*e.Noise
				if e.Low <= c.d && c.d <= e.High {
					held++
				}
			}
			mean := sum / tracks
			se := math.Sqrt((square/tracks - mean*mean) / tracks)
			if math.Abs(mean-c.d) > 4*se {
				t.Errorf("mean D %.4f ± %.4f, expected %g", mean, se, c.d)
			}
			if held < tracks*c.least/100 || held > tracks*995/1000 {
				t.Errorf("%d of %d intervals contain the truth", held, tracks)
			}
			if sd := math.Sqrt(noise / tracks); c.noise > 0 && c.frames > 50 && math.Abs(sd/c.noise-1) > 0.15 {
				t.Errorf("noise %.3f px, expected %g", sd, c.noise)
			}
		})
	}
}

// TestStuck: an object that does not move has an interval of D that begins at zero.
func TestStuck(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	held := 0
	for range 100 {
		if e := film(rng, 5, 0, 0.1, 0.05, 0).Diffusion(0, false); e.Low == 0 {
			held++
		}
	}
	if held < 93 { // 97.5 % expected, with some standard errors of tolerance
		t.Errorf("%d of 100 intervals include zero", held)
	}
}

// TestRuns: for an object that runs at 300 px/s, the velocity is right within its standard error, and the diffusion does not include the run.
func TestRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	l, x := &Law{}, 0.0
	for frame := range 100 {
		x += 3 + 0.2*rng.NormFloat64()
		l.Add(Place{x + 0.1*rng.NormFloat64(), 0.1 * rng.NormFloat64(), float64(frame) * 0.01, 1}, &Common{})
	}
	if vx, vy := l.Drift(); math.Abs(vx-300) > 8 || math.Abs(vy) > 2 { // 0.2 px per step over 99 steps: 2 px/s; localisation of 0.1 px: 0.14 px/s
		t.Errorf("velocity %.1f, %.1f px/s", vx, vy)
	}
	if runs, still := l.Diffusion(0, true).D, l.Diffusion(0, false).D; runs > 3 || still < 100 { // 0.2²/2dt/2 = 1, from one axis with 2 and one with 0
		t.Errorf("D %.2f without the run, %.2f with it", runs, still)
	}
}

// TestCut: no step leads across a cut.
func TestCut(t *testing.T) {
	var l Law
	l.Add(Place{0, 0, 0, 1}, &Common{})
	l.Add(Place{1, 0, 1, 1}, &Common{})
	l.Cut()
	l.Add(Place{100, 0, 2, 1}, &Common{})
	if l.Steps() != 1 || l.Path() != 1 {
		t.Errorf("found %d steps and a path of %g, expected 1 and 1", l.Steps(), l.Path())
	}
	if e := l.Diffusion(0, false); !math.IsNaN(e.D) {
		t.Errorf("found D %g from one step, which gives no noise", e.D)
	}
}

// TestCommon: a stage drift of 20 px/s is found among diffusing objects within a few standard errors. Objects with independent velocities have no common
// motion: the remaining mean by chance is below its standard error.
func TestCommon(t *testing.T) {
	for _, drift := range []float64{0, 20} {
		rng := rand.New(rand.NewPCG(11, 12))
		var c Common
		for range 60 {
			var l Law
			x, y := 0.0, 0.0
			vx, vy := 10*rng.NormFloat64(), 10*rng.NormFloat64() // the object's own velocity
			for frame := range 100 {
				x, y = x+(drift+vx)*0.02+0.2*rng.NormFloat64(), y+vy*0.02+0.2*rng.NormFloat64()
				l.Add(Place{x, y, float64(frame) * 0.02, 1}, &Common{})
			}
			c.Add(&l)
		}
		c.End()
		if math.Abs(c.X-drift) > 4*c.SD || math.Abs(c.Y) > 3*c.SD || !(c.SD > 0.5 && c.SD < 4) { // √(10² + 0.2²/0.02/T..)/√60 ≈ 1.5
			t.Errorf("drift %g: found %.2f, %.2f ± %.2f px/s", drift, c.X, c.Y, c.SD)
		}
		if c.Begin(); c.tracks != 0 || math.Abs(c.X-drift) > 10 {
			t.Errorf("after Begin: %+v", c)
		}
		if c.End(); c.X != 0 {
			t.Errorf("without tracks, found a common motion of %g px/s", c.X)
		}
	}
}
