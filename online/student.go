package online

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// How the student learns: longer, or from more points, it comes no nearer to the truth.
const (
	studentPoints = 256 // visited points at most, spread evenly over the track; every step sees them all
	studentSteps  = 600
	reviewSteps   = 30   // of one that has imitated much the same drift before
	leastBent     = 0.01 // of the bound on a drift, 1/T: what is bent by less, in square, is not worth imitating
	studentRate   = 1e-2 // at first; it falls to 0 as half a cosine
)

// student is the mean drift as a network. Its affine part is exact; the rest is bent, a network of u that learns at points which the track
// visited. before is bent as it was when less was known, nil at first; it is not written.
func (p *posterior) student(t *track, before *Network, seed uint64) (n, bent *Network) {
	n = p.tangent()
	if len(p.active) == 0 {
		return n, nil
	}
	stride := 1 + (t.len()-1)/studentPoints
	var points, rest []float64
	for k := 0; k < t.len(); k += stride {
		u, mu := p.scaled(t.row(k)), make([]float64, len(p.active))
		p.curved(mu, u)
		points, rest = append(points, u...), append(rest, mu...)
	}
	worth := leastBent / p.seconds
	if meanSquare(rest) < worth {
		return n, nil
	}
	var size, gap float64
	if before != nil && before.Dim == len(p.active) {
		bent = before.Clone()
		size, gap = imitate(bent, points, rest, reviewSteps, p.want)
	}
	if bent == nil || gap > 10*worth { // or much has changed since
		bent = NewNetwork(len(p.active), rand.New(rand.NewPCG(seed, 3)))
		size, _ = imitate(bent, points, rest, studentSteps, p.want)
	}
	p.add(n, bent, size)
	return n, bent
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

// imitate moves a network, in place, until size times its value at each point (n×d) is near target (n×d), whose size that is, and gives the
// mean square that is left. It ends where nobody wants it any more.
func imitate(n *Network, points, target []float64, steps int, w *want) (size, gap float64) {
	size = math.Sqrt(meanSquare(target) * float64(n.Dim))
	count := len(points) / n.Dim
	t, grad, optimiser := newTape(n, count), make([]float64, n.Size()), newAdam(n.Size())
	for step := range steps {
		if !w.holds() {
			break
		}
		t.forward(n, points)
		for k, mu := range t.out.Data {
			t.dOut.Data[k] = (mu - target[k]/size) / float64(count)
		}
		t.backward(grad, n)
		optimiser.descend(n.Weights, grad, studentRate*(1+math.Cos(math.Pi*float64(step)/float64(steps)))/2)
	}
	t.forward(n, points)
	floats.AddScaled(t.out.Data, -1/size, target)
	return size, size * size * meanSquare(t.out.Data)
}

func meanSquare(x []float64) float64 { return floats.Dot(x, x) / float64(len(x)) }

// add adds size times part, a drift of the active dimensions in units of √v as a network of u, to n, which has no hidden weights yet.
func (p *posterior) add(n, part *Network, size float64) {
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
