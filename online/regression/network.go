package regression

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"driftscope/online/diffusion"
	"driftscope/online/drift"
)

// Settings for learning the nonlinear part by a network. More steps or points do not bring the network closer to the truth.
const (
	visitedPoints = 256  // largest number of visited points, evenly spread over the track; every step uses all of them
	firstSteps    = 600  // steps of the optimiser for a new network
	reviewSteps   = 30   // steps for a network that has learnt nearly the same drift before
	leastCurved   = 0.01 // fraction of the bound on a drift, 1/T; a nonlinear part with a smaller mean square is not worth learning
	leastMissed   = 1e-3 // fraction of the nonlinear part's mean square; a network with a smaller error stops learning
	mostMissed    = 0.25 // fraction of the nonlinear part's mean square; a network with a smaller error continues from its weights
)

// Network returns the mean drift as a network n. Its affine part is exact. The rest is nonlinear, a network of u that learns the drift at points that the
// track visited. before is the previous nonlinear network, nil at first; it is not modified.
func (p *Posterior) Network(t *diffusion.Track, before *drift.Network, seed uint64) (n, nonlinear *drift.Network) {
	n = p.AffineNetwork()
	if len(p.active) == 0 {
		return n, nil
	}
	stride := 1 + (t.Len()-1)/visitedPoints
	var points, rest []float64
	for k := 0; k < t.Len(); k += stride {
		u, mu := p.scaled(t.Row(k)), make([]float64, len(p.active))
		p.nonlinear(mu, u)
		points, rest = append(points, u...), append(rest, mu...)
	}
	worth, square := leastCurved/p.seconds, floats.Dot(rest, rest)/float64(len(rest))
	if square < worth {
		return n, nil
	}
	var size, gap float64
	enough := max(worth, leastMissed*square)
	if before != nil && before.Dim == len(p.active) {
		nonlinear = before.Clone()
		size, gap = nonlinear.Imitate(points, rest, reviewSteps, enough, p.cancel)
	}
	if nonlinear == nil || gap > max(10*worth, mostMissed*square) { // no earlier network, or the drift has changed much
		nonlinear = drift.NewNetwork(len(p.active), rand.New(rand.NewPCG(seed, 3)))
		size, _ = nonlinear.Imitate(points, rest, firstSteps, enough, p.cancel)
	}
	p.addTo(n, nonlinear, size)
	return n, nonlinear
}

// AffineNetwork returns the affine part of the mean drift, as a network.
func (p *Posterior) AffineNetwork() *drift.Network {
	n := drift.NewNetwork(p.dim, rand.New(rand.NewPCG(0, 0)))
	clear(n.Weights)
	if len(p.active) == 0 {
		return n
	}
	n.Scale = p.basis.scale
	bias := n.Weights[len(n.Weights)-p.dim*p.dim-p.dim:]
	skip := bias[p.dim:]
	for i, to := range p.active {
		n.Centre[to] = p.root[i] * p.basis.centre[i]
		bias[to] = p.root[i] * p.constant[i]
		for j, from := range p.active {
			skip[from*p.dim+to] = p.root[i] / p.root[j] * p.matrix.At(i, j)
		}
	}
	return n
}

// addTo adds size times part, a drift of the active dimensions in units of √v as a network of u, to n, which has no hidden weights yet.
func (p *Posterior) addTo(n, part *drift.Network, size float64) {
	d, m := p.dim, len(p.active)
	width := n.Hidden[0]
	for i, from := range p.active {
		for j, w := range part.Weights[i*width : (i+1)*width] {
			n.Weights[from*width+j] = w / p.root[i]
		}
	}
	last := n.Hidden[len(n.Hidden)-1]
	end, partEnd := n.Size()-d*(last+1+d), part.Size()-m*(last+1+m)
	copy(n.Weights[d*width:end], part.Weights[m*width:partEnd])
	for row := range last + 1 + m { // the output layer's W and b, then the skip
		to, scale := row, 1.0
		if row > last {
			to, scale = last+1+p.active[row-last-1], 1/p.root[row-last-1]
		}
		for i, at := range p.active {
			n.Weights[end+to*d+at] += scale * size * p.root[i] * part.Weights[partEnd+row*m+i]
		}
	}
}
