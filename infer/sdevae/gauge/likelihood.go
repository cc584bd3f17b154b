package gauge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

const ridge float64 = 1e-2 // tuned gauge.ridge: penalty on the curvature of the map, nats per pair: mean over frames of the sum of squares of ∂c/∂s

// One of every `parts` pairs is held out. Single pairs suffice, because increments are independent given the map. A held-out stretch would need the map at
// positions that do not occur in the rest of the clip.
const parts = 5

// likelihood computes the likelihood of the increments of y = s + c(s). The coefficients x of c are (monomials of degree 2 and more) × d.
type likelihood struct {
	basis       numeric.Basis
	dim         int
	slopes      *mat.Dense // row k·d + j is ∂φ/∂sⱼ at frame k
	train, held *sample
	bend        *mat.SymDense // mean over frames of ∂φ/∂s ∂φ/∂s', of the monomials of degree 2 and more
}

// sample holds the statistics of a set of pairs that the likelihood needs.
type sample struct {
	pairs     int
	quadratic *mat.SymDense // (1/n) Σ Δφ Δφ'/Δt over the monomials φ, so that C = W' quadratic W
	touched   []float64     // per frame: number of its pairs, divided by 2n
}

func newLikelihood(b numeric.Basis, s *mat.Dense, train, held []video.Pair) *likelihood {
	n, d := s.Dims()
	phi, slopes, one := b.Design(s), mat.NewDense(n*d, len(b), nil), mat.NewDense(len(b), d, nil)
	for k := range n {
		b.Slopes(one, s.RawRowView(k))
		slopes.Slice(k*d, (k+1)*d, 0, len(b)).(*mat.Dense).Copy(one.T())
	}
	var bend mat.SymDense
	bend.SymOuterK(1/float64(n), slopes.Slice(0, n*d, 1+d, len(b)).T())
	return &likelihood{b, d, slopes, newSample(phi, train), newSample(phi, held), &bend}
}

func newSample(phi *mat.Dense, pairs []video.Pair) *sample {
	frames, terms := phi.Dims()
	s := &sample{len(pairs), mat.NewSymDense(terms, nil), make([]float64, frames)}
	n := float64(len(pairs))
	step := mat.NewVecDense(terms, nil)
	for _, p := range pairs {
		step.SubVec(phi.RowView(p.First+1), phi.RowView(p.First))
		s.quadratic.SymRankOne(s.quadratic, 1/(p.DT*n), step)
		s.touched[p.First] += 0.5 / n
		s.touched[p.First+1] += 0.5 / n
	}
	return s
}

// coefficients returns the number of entries of x.
func coefficients(b numeric.Basis, d int) int { return (len(b) - 1 - d) * d }

// straight returns the coefficients x of y = s.
func (l *likelihood) straight() []float64 {
	return make([]float64, coefficients(l.basis, l.dim))
}

// weights returns W of y = s + c(s) = φ(s) W.
func (l *likelihood) weights(x []float64) *mat.Dense {
	d := l.dim
	w := mat.NewDense(len(l.basis), d, nil)
	for i := range d {
		w.Set(1+i, i, 1)
	}
	copy(w.RawMatrix().Data[(1+d)*d:], x)
	return w
}

// diffusion returns C.
func (s *sample) diffusion(w *mat.Dense) *mat.SymDense {
	_, d := w.Dims()
	var half, c mat.Dense
	half.Mul(s.quadratic, w)
	c.Mul(w.T(), &half)
	return mat.NewSymDense(d, c.RawMatrix().Data)
}

// volume returns ½ mean over pairs of ln det J(s₀) + ln det J(s₁), or -Inf if the map folds at a frame of the clip. If grad is not nil, it adds the gradient
// with respect to W, from d ln det J = tr(J⁻¹ dJ).
func (l *likelihood) volume(on *sample, w, grad *mat.Dense) (sum float64) {
	d, one := l.dim, mat.NewDiagDense(l.dim, slices.Repeat([]float64{1}, l.dim))
	var jacobians, step mat.Dense // d rows per frame
	jacobians.Mul(l.slopes, w)
	var lu mat.LU
	for k, share := range on.touched {
		j := jacobians.Slice(k*d, (k+1)*d, 0, d).(*mat.Dense)
		lu.Factorize(j)
		log, sign := lu.LogDet()
		if sign <= 0 || math.IsInf(log, -1) {
			return math.Inf(-1)
		}
		sum += share * log
		if grad != nil { // the frame's contribution: J⁻¹' replaces J
			_ = lu.SolveTo(j, true, one) // the error only warns of bad conditioning, and the line search steps back
			j.Scale(share, j)
		}
	}
	if grad != nil {
		step.Mul(l.slopes.T(), &jacobians)
		grad.Add(grad, &step)
	}
	return sum
}

// nll returns the negative log-likelihood per pair, with C from the training pairs, or +Inf if the map folds:
//
//	½ ln det C + ½ mean e'C⁻¹e/Δt - ½ mean (ln det J(s₀) + ln det J(s₁))
func (l *likelihood) nll(on *sample, x []float64) float64 {
	w := l.weights(x)
	var c mat.Cholesky
	if !c.Factorize(l.train.diffusion(w)) {
		return math.Inf(1)
	}
	var whitened mat.Dense
	if c.SolveTo(&whitened, on.diffusion(w)) != nil {
		return math.Inf(1)
	}
	return 0.5*c.LogDet() + 0.5*mat.Trace(&whitened) - l.volume(on, w, nil)
}

// loss returns the training loss: nll plus ridge times tr(x' bend x).
func (l *likelihood) loss(x []float64) float64 {
	var pull mat.Dense
	pull.Mul(l.bend, mat.NewDense(len(x)/l.dim, l.dim, x))
	return l.nll(l.train, x) + ridge*mat.Dot(mat.NewVecDense(len(x), x), mat.NewVecDense(len(x), pull.RawMatrix().Data))
}

// gradient writes the gradient of loss to dst, if loss is finite: ½ d ln det C = tr(C⁻¹ W' quadratic dW), and mean e'C⁻¹e/Δt = d is constant.
func (l *likelihood) gradient(dst, x []float64) {
	w := l.weights(x)
	terms, d := w.Dims()
	var c mat.Cholesky
	c.Factorize(l.train.diffusion(w))
	var half, slope mat.Dense
	half.Mul(l.train.quadratic, w)
	_ = c.SolveTo(&slope, half.T()) // nll refuses badly conditioned matrices
	volume := mat.NewDense(terms, d, nil)
	l.volume(l.train, w, volume)
	volume.Sub(slope.T(), volume)
	var pull mat.Dense
	pull.Mul(l.bend, mat.NewDense(len(x)/d, d, x))
	for i, v := range pull.RawMatrix().Data {
		dst[i] = volume.RawMatrix().Data[(1+d)*d+i] + 2*ridge*v
	}
}

// interleave holds out one of every `parts` pairs.
func interleave(pairs []video.Pair) (train, held []video.Pair) {
	for k, p := range pairs {
		if k%parts == parts/2 {
			held = append(held, p)
		} else {
			train = append(train, p)
		}
	}
	return train, held
}
