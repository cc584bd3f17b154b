package online

import (
	"math"
	"math/rand/v2"
	"time"

	"driftscope/internal/latent"
)

// scene is a law of the paper with σ = I, in method.md's corrected form.
type scene struct {
	name  string
	from  []float64 // where every path begins
	paths int       // in 1000 latents
	law   drift
}

var scenes = []scene{
	{"balls constant", repeat(0, 2), 1, constant},
	{"balls OU", repeat(0, 2), 1, ornsteinUhlenbeck},
	{"balls circle", repeat(0, 2), 1, circle},
	{"5 balls OU", repeat(0, 10), 1, towards(repeat(2, 10), []float64{1, 1, -1, 1, 1, -1, -1, -1, 0, 0})},
	{"digits constant", []float64{1, 1, -1, -1}, 10, still},
	{"digits OU", []float64{1, 1, -1, -1}, 10, towards(repeat(1, 4), []float64{-1, -1, 1, 1})},
	{"digits circle", []float64{1, 1, -1, -1}, 10, func(mu, z []float64) {
		for i := 0; i < 4; i += 2 {
			mu[i], mu[i+1] = -z[i]-2*z[i+1], 2*z[i]-z[i+1]
		}
	}},
	{"Wasserstein OU", []float64{1}, 1, towards([]float64{2}, []float64{0})},
	{"Wasserstein double well", []float64{0}, 1, func(mu, z []float64) { mu[0] = 2 * z[0] * (1 - z[0]*z[0]) }},
	{"Wasserstein GBM", []float64{0}, 1, still},
	{"ball + Wasserstein OU", []float64{1, 0, -1}, 1, towards([]float64{1, 2, 3}, repeat(0, 3))},
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

// named is the scene of that name.
func named(name string) scene {
	for _, s := range scenes {
		if s.name == name {
			return s
		}
	}
	panic(name)
}

// towards is the drift -κ(z - c), coordinate by coordinate.
func towards(kappa, c []float64) drift {
	return func(mu, z []float64) {
		for i := range mu {
			mu[i] = -kappa[i] * (z[i] - c[i])
		}
	}
}

// film is n latents of the scene with noise of variance rΔt, and the true ones.
func (s scene) film(n int, r float64, rng *rand.Rand) (seen []latent.Latent, truth [][]float64) {
	d, length := len(s.from), max(1, n/s.paths)
	mu := make([]float64, d)
	for k := range n {
		z := append([]float64(nil), s.from...)
		if k%length > 0 {
			s.law(mu, truth[k-1])
			for i := range z {
				z[i] = truth[k-1][i] + mu[i]*testStep + math.Sqrt(testStep)*rng.NormFloat64()
			}
		}
		l := latent.Latent{Seq: uint64(k), Time: time.Unix(0, int64(k)*1e7), Trajectory: uint64(k / length), SD: make([]float64, d)}
		for _, v := range z {
			l.Mean = append(l.Mean, v+math.Sqrt(r*testStep)*rng.NormFloat64())
		}
		seen, truth = append(seen, l), append(truth, z)
	}
	return seen, truth
}

// steps are the film's transitions, as one would have them who knows σ and the noise.
func (s scene) steps(seen []latent.Latent, r float64) *steps {
	d := len(s.from)
	known := &lens{root: repeat(1, d), noise: r * testStep}
	t := newTrack(d, len(seen))
	for k := range seen {
		dt := testStep
		if k == 0 || seen[k].Trajectory != seen[k-1].Trajectory {
			dt = 0
		}
		t.add(seen[k].Mean, dt)
	}
	for i := range d {
		known.active = append(known.active, i)
	}
	return known.steps(t)
}

// error is L_μ, the mean over points of |got - law|², summed over coordinates, (latent/s)².
func (s scene) error(got drift, points [][]float64) float64 {
	a, b, sum := make([]float64, len(s.from)), make([]float64, len(s.from)), 0.0
	for _, z := range points {
		got(a, z)
		s.law(b, z)
		sum += squareDistance(a, b)
	}
	return sum / float64(len(points))
}

// network is the drift of n.
func (n *Network) drift() drift {
	scratch := new(Scratch)
	return func(mu, z []float64) { n.Drift(mu, z, scratch) }
}

// learnt is the posterior of steps whose units are the latents' own.
func learnt(s *steps) (*posterior, error) {
	p := &posterior{dim: s.dim, root: repeat(1, s.dim)}
	for i := range s.dim {
		p.active = append(p.active, i)
	}
	return p, p.learn(s)
}
