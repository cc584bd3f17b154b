package motiontest

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/internal/suite"
)

// TestModels verifies, over 1500 tracks, that the mean square displacement from the first place grows with the exponent between 30 and 300 frames, to
// 0.15: four standard errors of the broadest model plus its transient. The steps of each track scale its axes, so only the ratio of two times counts.
func TestModels(t *testing.T) {
	suite.Calculation(t)
	for _, c := range []struct {
		model Model
		alpha float64
	}{{FBM, 0.4}, {FBM, 1.6}, {SBM, 0.5}, {SBM, 1.5}, {CTRW, 0.5}, {LW, 1.5}} {
		rng := rand.New(rand.NewPCG(1, uint64(c.model)))
		var early, late float64
		for range 1500 {
			x, y := raw(rng, c.model, c.alpha)
			early += x[30]*x[30] + y[30]*y[30]
			late += x[300]*x[300] + y[300]*y[300]
		}
		if got := math.Log10(late / early); math.Abs(got-c.alpha) > 0.15 {
			t.Errorf("%s of exponent %g grows by %.3f", c.model, c.alpha, got)
		}
	}
}

// TestPath verifies that every model at every allowed exponent has Whole places, with steps of standard deviation 1 along each axis, or no motion at
// all.
func TestPath(t *testing.T) {
	for k := 1; k <= 40; k++ {
		alpha := float64(k) / 20
		for m := range Models {
			if !m.Allows(alpha) {
				continue
			}
			x, y := Path(rand.New(rand.NewPCG(2, uint64(k))), m, alpha)
			for _, axis := range [][]float64{x, y} {
				sum, square := 0., 0.
				for i := 1; i < len(axis); i++ {
					d := axis[i] - axis[i-1]
					sum, square = sum+d, square+d*d
				}
				n := float64(len(axis) - 1)
				if v := square/n - sum*sum/n/n; len(axis) != Whole || math.Abs(v-1) > 1e-6 && v != 0 {
					t.Errorf("%s of exponent %g: %d places, variance of a step %g", m, alpha, len(axis), v)
				}
			}
		}
	}
}

// TestFractional compares the covariances of neighbouring steps with the law, over 400 paths of 200 steps, to 0.02: four standard errors.
func TestFractional(t *testing.T) {
	for _, alpha := range []float64{0.1, 0.5, 1, 1.5, 1.9} {
		rng := rand.New(rand.NewPCG(3, 3))
		var variance, next, count float64
		for range 400 {
			x, y := Fractional(rng, 200, alpha)
			for i := 1; i < len(x); i++ {
				variance += x[i]*x[i] + y[i]*y[i]
				next += x[i]*x[i-1] + y[i]*y[i-1]
				count += 2
			}
		}
		want := math.Pow(2, alpha)/2 - 1
		if math.Abs(variance/count-1) > 0.02*(1+4*max(alpha-1, 0)) || math.Abs(next/count-want) > 0.02*(1+4*max(alpha-1, 0)) {
			t.Errorf("exponent %g: variance %.3f and covariance %.3f, expected 1 and %.3f", alpha, variance/count, next/count, want)
		}
	}
}

// TestSimulate verifies the places, times and gaps of a film; blur reduces the variance of a step by a third.
func TestSimulate(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	track := Simulate(rng, Law{D: 1}, Film{Places: 1000, Step: 0.5, Missing: 0.2})
	if n := len(track.T); n != 1000 || track.T[0] != 0 || math.Abs(track.T[n-1]/0.5/float64(n)-1.25) > 0.05 {
		t.Errorf("%d places to %g s, expected 1000 to about 625", n, track.T[n-1])
	}
	track = Simulate(rng, Law{D: 1}, Film{Places: 20000, Step: 0.5, Exposure: 0.5})
	square := 0.
	for i := 1; i < len(track.X); i++ {
		square += (track.X[i] - track.X[i-1]) * (track.X[i] - track.X[i-1])
	}
	// 2DΔt(1 - 1/3); the mean of ten lacks 1 % of the blur of the integral, and 20,000 steps determine the variance to 1 %
	if got := square / float64(len(track.X)-1); math.Abs(got/(2./3)-1) > 0.05 {
		t.Errorf("steps exposed all the time have the variance %.3f, expected 0.667", got)
	}
}
