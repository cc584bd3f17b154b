// Paths
//
// A law can generate paths.
//
// A path of a law is simulated in Euler and Maruyama's steps of h. A path with a fixed end b starts as an exactly sampled Brownian bridge. Given both ends,
// the law has the density
//
//	dP/dB ∝ exp Σ [μᵢ(z)Δzᵢ - ½μᵢ(z)²h]/σᵢ²                                                   (Girsanov)
//
// relative to the Brownian bridge B, in steps of h. So bridges of the law are sampled by the rule of Metropolis and Hastings: stretches of random length are
// replaced by new Brownian bridges as proposals (Elerian, Chib and Shephard 2001; Roberts and Stramer 2001), each point 400 times. For a spring of κ over a
// time T, the variance along the bridge then equals the exact variance within the error of 150 to 400 bridges (0.01 to 0.07 of it) for κT = 4, 5, 40 and 400.
// 100 times are enough up to κT = 40.

package drift

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Law is a law of motion dz = μ(z) dt + σ dW that generates paths. Its methods only read it, and take all random numbers from the given generator.
type Law struct {
	Drift *Network  // μ, latent/s; nil for zero drift
	Sigma []float64 // the diagonal of σ, latent/s^½
	Step  float64   // longest step of Euler and Maruyama, s
}

// Bounds on a path, and the number of sweeps over a bridge.
const (
	maxSubsteps = 1000    // largest number of steps in one interval
	maxPath     = 1 << 26 // largest number of values of a path with all its steps
	maxBridge   = 1 << 18 // the same for a bridge, whose points are all replaced many times
	sweeps      = 400     // number of proposals for every point of a bridge
)

// Path's error wraps ErrEscaped if the drift drives a path to infinity, outside the region where it was learnt.
var ErrEscaped = errors.New("the drift has driven the path to infinity: ask for a shorter path, or learn the law from a longer recording")

// Path returns n latents, dt seconds apart, one per row; the first is from. Between two of them it takes Euler-Maruyama steps
//
//	z ← z + μ(z)h + σ√h ξ,  ξ ~ N(0, I),  h = dt/⌈dt/Step⌉.
//
// It returns ErrEscaped, or an error if the path needs too much memory or time.
func (l *Law) Path(from []float64, dt float64, n int, rng *rand.Rand) (*mat.Dense, error) {
	between, err := l.substeps(dt, n, maxPath)
	if err != nil {
		return nil, err
	}
	d, h := len(l.Sigma), dt/float64(between)
	out, mu, scratch := mat.NewDense(n, d, nil), make([]float64, d), new(Scratch)
	out.SetRow(0, from)
	for i := 1; i < n; i++ {
		z := out.RawRowView(i)
		copy(z, out.RawRowView(i-1))
		for range between {
			if l.Drift != nil {
				l.Drift.Drift(mu, z, scratch)
			}
			for c, sigma := range l.Sigma {
				z[c] += mu[c]*h + sigma*math.Sqrt(h)*rng.NormFloat64()
			}
		}
		if !Finite(z) {
			return nil, fmt.Errorf("after %.4g s %w", float64(i)*dt, ErrEscaped)
		}
	}
	return out, nil
}

// Bridge returns n latents, dt seconds apart, one per row, on a path of the law that begins exactly at from and ends exactly at to. Without a drift, the path
// is a Brownian bridge. With a drift, it is the law's path conditioned on both ends.
func (l *Law) Bridge(from, to []float64, dt float64, n int, rng *rand.Rand) (*mat.Dense, error) {
	between, err := l.substeps(dt, n, maxBridge)
	if err != nil {
		return nil, err
	}
	d, steps := len(l.Sigma), (n-1)*between
	p := &bridge{law: l, h: dt / float64(between), z: make([]float64, (steps+1)*d), rng: rng}
	copy(p.z, from)
	copy(p.z[steps*d:], to)
	p.brownian(p.z)
	if l.Drift != nil {
		p.condition(sweeps)
	}
	out := mat.NewDense(n, d, nil)
	for i := range n {
		out.SetRow(i, p.z[i*between*d:(i*between+1)*d])
	}
	return out, nil
}

// substeps returns the number of steps in an interval, for a path of at most limit values.
func (l *Law) substeps(dt float64, n int, limit float64) (int, error) {
	between := math.Ceil(dt/l.Step - 1e-9)
	switch {
	case n < 2 || !(dt > 0):
		return 0, fmt.Errorf("a path of %d latents, %g s apart, expected 2 or more latents and a time above 0: correct the one out of range", n, dt)
	case between > maxSubsteps:
		return 0, fmt.Errorf("latents %g s apart need %g steps of the law's %g s each, expected at most %d: give a shorter interval", dt, between, l.Step, maxSubsteps)
	case float64(n)*between*float64(len(l.Sigma)) > limit:
		return 0, fmt.Errorf("%d latents of %d dimensions in %g steps each are too many values, expected at most %g: ask for fewer latents or a shorter interval", n, len(l.Sigma), between, limit)
	}
	return int(max(between, 1)), nil
}

// bridge is a path between two fixed latents during its construction. Paths are flat, with a row of d values per step.
type bridge struct {
	law *Law
	h   float64   // time of a step, s
	z   []float64 // the whole path
	rng *rand.Rand

	mu, next, nextMu []float64 // drift at z; a proposal for a part of z, and its drift
	scratch          Scratch
}

// brownian redraws all of z except its first and last row, as a Brownian bridge in steps of h: with k steps left to the end b
//
//	z' ~ N(z + (b - z)/k, σ²h (k-1)/k).
func (p *bridge) brownian(z []float64) {
	d := len(p.law.Sigma)
	end := z[len(z)-d:]
	for left, at := len(z)/d-1, 0; left > 1; left, at = left-1, at+d {
		k := float64(left)
		for c, sigma := range p.law.Sigma {
			v := z[at+c]
			z[at+d+c] = v + (end[c]-v)/k + sigma*math.Sqrt(p.h*(k-1)/k)*p.rng.NormFloat64()
		}
	}
}

// condition turns a Brownian bridge into a bridge of the law, by the rule of Metropolis and Hastings. A new Brownian bridge is proposed for a stretch and
// accepted by the ratio of Girsanov's weights. The lengths of stretches are log-uniform from one point to the whole path, so some fit the drift's time scale.
// Stretches may overlap the ends, so every point is equally often in a stretch.
func (p *bridge) condition(sweeps int) {
	d := len(p.law.Sigma)
	steps := len(p.z)/d - 1
	if steps < 2 {
		return
	}
	p.mu, p.next, p.nextMu = make([]float64, len(p.z)), make([]float64, len(p.z)), make([]float64, len(p.z))
	p.drift(p.mu, p.z)
	for left := sweeps * (steps - 1); left > 0; {
		length := int(math.Round(2 * math.Pow(float64(steps)/2, p.rng.Float64())))
		begin := p.rng.IntN(steps+length-3) + 2 - length
		from, to := max(begin, 0)*d, (min(begin+length, steps)+1)*d
		left -= (to-from)/d - 2

		z, mu := p.z[from:to], p.mu[from:to]
		next, nextMu := p.next[:len(z)], p.nextMu[:len(z)]
		copy(next, z)
		p.brownian(next)
		p.drift(nextMu, next)
		if -p.rng.ExpFloat64() < p.weight(next, nextMu)-p.weight(z, mu) {
			copy(z, next)
			copy(mu, nextMu)
		}
	}
}

// drift writes μ of each row of z.
func (p *bridge) drift(mu, z []float64) {
	d := len(p.law.Sigma)
	for at := 0; at < len(z); at += d {
		p.law.Drift.Drift(mu[at:at+d], z[at:at+d], &p.scratch)
	}
}

// weight returns the log density ratio of z under the law and without drift, Σ [μ·Δz - ½μ²h]/σ².
func (p *bridge) weight(z, mu []float64) float64 {
	d, total := len(p.law.Sigma), 0.0
	for at := range len(z) - d {
		sigma := p.law.Sigma[at%d]
		total += mu[at] * (z[at+d] - z[at] - mu[at]*p.h/2) / (sigma * sigma)
	}
	return total
}
