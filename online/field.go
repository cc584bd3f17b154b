package online

import "math"

// field is the drift as published: the model's own μ⁰ (zero without one) and a share a of what refinement added, doc.go (9),
//
//	μ = μ⁰ + a (μ¹ - μ⁰),  0 ≤ a ≤ 1.
type field struct {
	prior   *Network // μ⁰, nil for zero
	learnt  *Network // μ¹
	share   float64  // a
	gain    float64  // Σ w (y - μ⁰)(μ¹ - μ⁰) over transitions that μ¹ had not seen
	size    float64  // Σ w (μ¹ - μ⁰)²
	scratch Scratch
	mu, jac []float64
}

// newField is the prior's drift, of which learnt is a copy.
func newField(prior, learnt *Network) *field {
	return &field{prior: prior, learnt: learnt, mu: make([]float64, learnt.Dim), jac: make([]float64, learnt.Dim*learnt.Dim)}
}

// drift writes μ(z) into dst.
func (f *field) drift(dst, z []float64) {
	f.original(dst, z)
	if f.share > 0 {
		f.learnt.Drift(f.mu, z, &f.scratch)
		blend(dst, f.mu, f.share)
	}
}

// linearise writes μ(z) and its Jacobian into mu and jac.
func (f *field) linearise(mu, jac, z []float64) {
	clear(mu)
	clear(jac)
	if f.prior != nil {
		f.prior.Linearise(mu, jac, z, &f.scratch)
	}
	if f.share > 0 {
		f.learnt.Linearise(f.mu, f.jac, z, &f.scratch)
		blend(mu, f.mu, f.share)
		blend(jac, f.jac, f.share)
	}
}

// original writes μ⁰(z) into dst.
func (f *field) original(dst, z []float64) {
	clear(dst)
	if f.prior != nil {
		f.prior.Drift(dst, z, &f.scratch)
	}
}

// score tests μ¹ on a transition that it has not learnt from: y measured at x with precisions w, where the prior's drift is
// prior. forget discounts older tests.
func (f *field) score(x, y, prior, w []float64, forget float64) {
	f.learnt.Drift(f.mu, x, &f.scratch)
	f.gain *= forget
	f.size *= forget
	for i, mu := range f.mu {
		added := mu - prior[i]
		f.gain += w[i] * (y[i] - prior[i]) * added
		f.size += w[i] * added * added
	}
}

// weigh renews the share: its posterior mean over {0, ¼, ½, ¾, 1} with half the prior on 0 and the log-likelihood a·gain - a²·size/2.
func (f *field) weigh() {
	const grid = 4
	top := math.Inf(-1)
	var ll [grid + 1]float64
	for k := range ll {
		a := float64(k) / grid
		ll[k] = a*f.gain - a*a*f.size/2
		if k == 0 {
			ll[k] = math.Log(grid)
		}
		top = max(top, ll[k])
	}
	total, mean := 0.0, 0.0
	for k, l := range ll {
		p := math.Exp(l - top)
		total += p
		mean += p * float64(k) / grid
	}
	f.share = mean / total
}

// blend moves dst towards x by the share a of the way.
func blend(dst, x []float64, a float64) {
	for i, v := range x {
		dst[i] += a * (v - dst[i])
	}
}
