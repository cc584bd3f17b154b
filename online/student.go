package online

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"driftscope/internal/latent"
)

// How the student learns: longer, or from more points, it comes no nearer to the truth.
const (
	studentPoints = 256 // visited points at most, spread evenly over the recording; every step sees them all
	studentSteps  = 600
	studentRate   = 1e-2 // at first; it falls to 0 as half a cosine
)

// student is the mean drift as a network. Its affine part is exact; the rest it learns at points that the latents visited.
func (p *posterior) student(latents []latent.Latent, seed uint64) *Network {
	n := p.tangent()
	if len(p.active) == 0 {
		return n
	}
	stride := 1 + (len(latents)-1)/studentPoints
	var points, rest []float64
	for k := 0; k < len(latents); k += stride {
		u, mu := p.scaled(latents[k].Mean), make([]float64, len(p.active))
		p.curved(mu, u)
		points, rest = append(points, u...), append(rest, mu...)
	}
	p.add(n, imitate(points, rest, len(p.active), seed))
	return n
}

// tangent is the affine part of the mean drift, as a network.
func (p *posterior) tangent() *Network {
	n := NewNetwork(p.dim, rand.New(rand.NewPCG(0, 0)))
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

// imitate is a network of u whose value at each point (n×d) is near target (n×d), in the mean square.
func imitate(points, target []float64, d int, seed uint64) *Network {
	n := NewNetwork(d, rand.New(rand.NewPCG(seed, 3)))
	count := len(points) / d
	size := floats.Norm(target, 2) / math.Sqrt(float64(count))
	if size == 0 {
		return n
	}
	t, grad, optimiser := newTape(n, count), make([]float64, n.Size()), newAdam(n.Size())
	for step := range studentSteps {
		t.forward(n, points)
		for k, mu := range t.out.Data {
			t.dOut.Data[k] = (mu - target[k]/size) / float64(count)
		}
		t.backward(grad, n)
		optimiser.descend(n.Weights, grad, studentRate*(1+math.Cos(math.Pi*float64(step)/studentSteps))/2)
	}
	last := n.Hidden[len(n.Hidden)-1]
	floats.Scale(size, n.Weights[n.Size()-d*(last+1+d):])
	return n
}

// add adds part, a drift of the active dimensions in units of √v as a network of u, to n, which has no hidden weights yet.
func (p *posterior) add(n, part *Network) {
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
			n.Weights[end+to*d+at] += scale * p.root[i] * part.Weights[partEnd+row*m+i]
		}
	}
}
