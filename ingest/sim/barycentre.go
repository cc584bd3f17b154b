package sim

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	wander    = 8.0      // px², variance ε of the bridge's random paths between the pictures
	softness  = 2.0      // px², variance of the pictures' blur, which is 8 in the published barycentres
	stops     = 65       // number of pictures stored along the path
	wayMargin = 1.0 / 32 // fraction of the path left out at each end, where the kernel would be too narrow for the pixel grid
	maxSweeps = 1000
	wayError  = 1e-3 // largest accepted fraction of misplaced mass
)

// barycentres are pictures on a path between two grey pictures, taken as distributions of mass. The path is close to their geodesic in Wasserstein-2 distance.
// With G_v the Gaussian kernel of variance v on the pixel grid, they are the Schrödinger bridge
//
//	p_t = (G_tε f) (G_(1-t)ε g),   f G_ε g = p_0,   g G_ε f = p_1,
//
// which tends to McCann's displacement interpolation as ε → 0 (Léonard, Discrete Contin. Dyn. Syst. A 34, 2014). The
// published pictures are the entropic barycentres of Solomon et al. (ACM Trans. Graph. 34, 2015) with the same kernel. The
// bridge is sharper, and Sinkhorn's iteration for f and g converges once for all t.
//
// The brightest pixel of each picture is 1, as in the published ones.
type barycentres [stops][]float64

// newBarycentres computes the path from picture a to picture b, side² grey values each.
//
// Nothing underflows: the kernel's smallest value on side² pixels is exp(-63²/ε) = 1e-216.
func newBarycentres(a, b []float64) (*barycentres, error) {
	w := newBridge(a, b)
	off := 1.0
	for sweep := 0; sweep < maxSweeps && off > wayError; sweep++ {
		off = w.sweep()
	}
	if !(off <= wayError) {
		return nil, fmt.Errorf("no path was found between the two pictures (the fraction %.2g of the mass does not arrive): give two pictures that are more similar", off)
	}
	table := new(barycentres)
	for i := range table {
		table[i] = w.at(wayMargin + (1-2*wayMargin)*float64(i)/(stops-1))
	}
	return table, nil
}

// draw writes the picture at t in [0, 1] into grey, a linear blend of the two nearest pictures in the table.
func (p *barycentres) draw(grey []float64, t float64) {
	at := t * (stops - 1)
	i := min(int(at), stops-2)
	before, after := p[i], p[i+1]
	part := at - float64(i)
	for pixel := range grey {
		grey[pixel] = (1-part)*before[pixel] + part*after[pixel]
	}
}

// bridge solves a Schrödinger bridge.
type bridge struct {
	kernel     *mat.Dense // G_ε along one axis
	p0, p1     *mat.Dense // the blurred first and last pictures, with mass 1
	f, g       *mat.Dense
	toP0, toP1 *mat.Dense // G_ε g and G_ε f
	scratch    *mat.Dense
}

func newBridge(a, b []float64) *bridge {
	w := &bridge{kernel: gaussian(wander)}
	for _, m := range []**mat.Dense{&w.p0, &w.p1, &w.f, &w.g, &w.toP0, &w.toP1, &w.scratch} {
		*m = mat.NewDense(side, side, nil)
	}
	blur := gaussian(softness)
	w.convolve(w.p0, blur, mat.NewDense(side, side, a))
	w.convolve(w.p1, blur, mat.NewDense(side, side, b))
	w.p0.Scale(1/mat.Sum(w.p0), w.p0)
	w.p1.Scale(1/mat.Sum(w.p1), w.p1)
	for i := range w.g.RawMatrix().Data {
		w.g.RawMatrix().Data[i] = 1
	}
	return w
}

// sweep runs one Sinkhorn iteration: it fits p_0, then p_1. It returns the misplaced mass in p_0 before this iteration.
func (w *bridge) sweep() (astray float64) {
	w.convolve(w.toP0, w.kernel, w.g)
	f, p0, toP0 := w.f.RawMatrix().Data, w.p0.RawMatrix().Data, w.toP0.RawMatrix().Data
	for i, k := range toP0 {
		astray += math.Abs(f[i]*k - p0[i])
	}
	w.f.DivElem(w.p0, w.toP0)
	w.convolve(w.toP1, w.kernel, w.f)
	w.g.DivElem(w.p1, w.toP1)
	return astray
}

// at returns p_t, 0 < t < 1, scaled to a peak of 1.
func (w *bridge) at(t float64) []float64 {
	var p mat.Dense
	w.convolve(w.toP1, gaussian(t*wander), w.f)
	w.convolve(w.toP0, gaussian((1-t)*wander), w.g)
	p.MulElem(w.toP1, w.toP0)
	p.Scale(1/mat.Max(&p), &p)
	return p.RawMatrix().Data
}

// convolve writes kernel · x · kernel into dst, the convolution along both axes.
func (w *bridge) convolve(dst, kernel, x *mat.Dense) {
	w.scratch.Mul(kernel, x)
	dst.Mul(w.scratch, kernel)
}

// gaussian returns the matrix exp(-(i-j)²/2v), which convolves along one axis of a picture. It is not normalised, because every picture is scaled later.
func gaussian(v float64) *mat.Dense {
	k := mat.NewDense(side, side, nil)
	for i := range side {
		for j := range side {
			k.Set(i, j, math.Exp(-float64((i-j)*(i-j))/(2*v)))
		}
	}
	return k
}
