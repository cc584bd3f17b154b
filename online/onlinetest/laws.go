// Package onlinetest simulates latents of known laws, for the tests of online and of the packages below it: σ = 1 in every dimension, a frame every Step, and
// noise of variance R = r·Step. It also simulates tracks for online/exact (tracks.go) and films of interacting particles (pairs.go).
package onlinetest

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"driftscope/internal/flow/latent"
)

// Step is Δt, s.
const Step = 0.01

// Drift writes μ(z) into mu.
type Drift func(mu, z []float64)

// Spring is a spring of 4/s in two dimensions.
func Spring(mu, z []float64) { mu[0], mu[1] = -4*z[0], -4*z[1] }

// Constant is a uniform drift in two dimensions.
func Constant(mu, _ []float64) { mu[0], mu[1] = -0.25, 0.25 }

// Circle is a spiral sink in two dimensions.
func Circle(mu, z []float64) { mu[0], mu[1] = -z[0]-3*z[1], 3*z[0]-z[1] }

// Still is zero drift.
func Still(mu, _ []float64) { clear(mu) }

// Towards returns the drift -κ(z - c), coordinate by coordinate.
func Towards(kappa, c []float64) Drift {
	return func(mu, z []float64) {
		for i := range mu {
			mu[i] = -kappa[i] * (z[i] - c[i])
		}
	}
}

// Rand returns a seeded generator.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

// Normals returns n random numbers from N(0, 1).
func Normals(n int, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// Repeat returns n copies of v.
func Repeat(v float64, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// SquareDistance returns |a - b|².
func SquareDistance(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}

// Within fails the test unless every entry of got differs from want by at most tolerance, relative to the larger of 1 and |want|.
func Within(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if diff := math.Abs(got[i] - want[i]); !(diff <= tolerance*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s[%d] = %g, want %g (off by %g, tolerance %g)", what, i, got[i], want[i], diff, tolerance)
		}
	}
}

// Stream returns n latents of a law in two dimensions, starting at z = 0, and the true z.
func Stream(law Drift, n int, r float64, rng *rand.Rand) (seen []latent.Latent, truth [][]float64) {
	z, mu := make([]float64, 2), make([]float64, 2)
	for k := range n {
		l := latent.Latent{Seq: uint64(k), Time: time.Unix(0, 0).Add(time.Duration(k) * 10 * time.Millisecond)}
		for i := range z {
			l.Mean = append(l.Mean, z[i]+math.Sqrt(r*Step)*rng.NormFloat64())
		}
		seen, truth = append(seen, l), append(truth, append([]float64(nil), z...))
		law(mu, z)
		for i := range z {
			z[i] += mu[i]*Step + math.Sqrt(Step)*rng.NormFloat64()
		}
	}
	return seen, truth
}

// PixelMap is the map of Photograph from two latents to a centroid, pixels per latent unit: rotated, stretched and mirrored.
var PixelMap = [2][2]float64{{6, 2}, {3, -5}}

// Photograph sets the centroid of every latent from the true z by PixelMap, with noise of the given sd, px.
func Photograph(seen []latent.Latent, truth [][]float64, noise float64, rng *rand.Rand) {
	middle := [2]float64{52, 44} // centroid at latents of 0
	for k := range seen {
		c := make([]float64, 2)
		for a := range c {
			c[a] = middle[a] + PixelMap[a][0]*truth[k][0] + PixelMap[a][1]*truth[k][1] + noise*rng.NormFloat64()
		}
		seen[k].Centroid = c
	}
}

// Turned returns a path of n latents in two dimensions. It follows laws[0] with σ = 1 before latent at, and laws[1] with σ = sigma from it on.
func Turned(laws [2]Drift, sigma float64, at, n int, rng *rand.Rand) [][]float64 {
	z, mu := make([]float64, 2), make([]float64, 2)
	var path [][]float64
	for k := range n {
		path = append(path, append([]float64(nil), z...))
		law, spread := laws[0], 1.0
		if k >= at {
			law, spread = laws[1], sigma
		}
		law(mu, z)
		for i := range z {
			z[i] += mu[i]*Step + spread*math.Sqrt(Step)*rng.NormFloat64()
		}
	}
	return path
}
