package onlinetest

import (
	"math"
	"math/rand/v2"
	"time"

	"driftscope/internal/flow/latent"
)

// Scene is a law of the paper with σ = I, with the corrections of docs/explanation/paper.md.
type Scene struct {
	Name  string
	From  []float64 // start of every path
	Paths int       // number of paths in a film
	Law   Drift
}

// Scenes lists the paper's laws.
var Scenes = []Scene{
	{"balls constant", Repeat(0, 2), 1, Constant},
	{"balls OU", Repeat(0, 2), 1, Spring},
	{"balls circle", Repeat(0, 2), 1, Circle},
	{"5 balls OU", Repeat(0, 10), 1, Towards(Repeat(2, 10), []float64{1, 1, -1, 1, 1, -1, -1, -1, 0, 0})},
	{"digits constant", []float64{1, 1, -1, -1}, 10, Still},
	{"digits OU", []float64{1, 1, -1, -1}, 10, Towards(Repeat(1, 4), []float64{-1, -1, 1, 1})},
	{"digits circle", []float64{1, 1, -1, -1}, 10, func(mu, z []float64) {
		for i := 0; i < 4; i += 2 {
			mu[i], mu[i+1] = -z[i]-2*z[i+1], 2*z[i]-z[i+1]
		}
	}},
	{"Wasserstein OU", []float64{1}, 1, Towards([]float64{2}, []float64{0})},
	{"Wasserstein double well", []float64{0}, 1, func(mu, z []float64) { mu[0] = 2 * z[0] * (1 - z[0]*z[0]) }},
	{"Wasserstein GBM", []float64{0}, 1, Still},
	{"ball + Wasserstein OU", []float64{1, 0, -1}, 1, Towards([]float64{1, 2, 3}, Repeat(0, 3))},
	{"ball + Wasserstein Cauchy", []float64{1, 0, -1}, 1, func(mu, z []float64) {
		for i, v := range z {
			mu[i] = -float64(1+i) * v / (1 + v*v)
		}
	}},
	{"ball + Wasserstein anisotropic", []float64{1, 0, 2}, 1, func(mu, z []float64) {
		w := max(z[2], 0.05)
		mu[0], mu[1], mu[2] = -3.5*z[0]-3*z[1], 1.25*z[0]+0.5*z[1], (1.4-0.3*w*w)/(2*w)
	}},
}

// Named returns the scene with the given name.
func Named(name string) Scene {
	for _, s := range Scenes {
		if s.Name == name {
			return s
		}
	}
	panic(name)
}

// Film returns n latents of the scene with noise of variance rΔt, and the true z.
func (s Scene) Film(n int, r float64, rng *rand.Rand) (seen []latent.Latent, truth [][]float64) {
	d, length := len(s.From), max(1, n/s.Paths)
	mu := make([]float64, d)
	for k := range n {
		z := append([]float64(nil), s.From...)
		if k%length > 0 {
			s.Law(mu, truth[k-1])
			for i := range z {
				z[i] = truth[k-1][i] + mu[i]*Step + math.Sqrt(Step)*rng.NormFloat64()
			}
		}
		l := latent.Latent{Seq: uint64(k), Time: time.Unix(0, int64(k)*1e7), Trajectory: uint64(k / length), SD: make([]float64, d)}
		for _, v := range z {
			l.Mean = append(l.Mean, v+math.Sqrt(r*Step)*rng.NormFloat64())
		}
		seen, truth = append(seen, l), append(truth, z)
	}
	return seen, truth
}

// Error returns L_μ, the mean over points of |got - law|², summed over coordinates, (latent/s)².
func (s Scene) Error(got Drift, points [][]float64) float64 {
	a, b, sum := make([]float64, len(s.From)), make([]float64, len(s.From)), 0.0
	for _, z := range points {
		got(a, z)
		s.Law(b, z)
		sum += SquareDistance(a, b)
	}
	return sum / float64(len(points))
}
