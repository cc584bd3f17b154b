package online

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// bumpRows is the number of transitions whose bumps are in memory at a time.
const bumpRows = 256

// bumpSums are sums over the transitions, for the scalars f = k(u) - A'[1,u] of one length scale, doc.go (12) and (14).
type bumpSums struct {
	gram     *mat.Dense // Σ Δt ff', M×M
	push     *mat.Dense // b, Σ f Δx' less the noise's share, M×d
	skew     *mat.Dense // G with the radial field, Σ Δt f ½(|u|²-a) u', M×d
	shadow   *mat.Dense // of k on the affine fields, Σ Δt k [1,u]', M×(1+d)
	affine   *mat.Dense // A, (1+d)×M
	variance *mat.Dense // V of b, M×M
}

// gather adds up k itself, in blocks of transitions.
func (f *bumps) gather(s *steps, b *basis, u []float64) *bumpSums {
	d, size := f.d, f.points.RawMatrix().Rows
	sums := &bumpSums{gram: mat.NewDense(size, size, nil), push: mat.NewDense(size, d, nil), skew: mat.NewDense(size, d, nil),
		shadow: mat.NewDense(size, 1+d, nil)}
	for first := 0; first < s.len(); first += bumpRows {
		rows := min(bumpRows, s.len()-first)
		k, weighted := mat.NewDense(rows, size, nil), mat.NewDense(rows, size, nil)
		moved, bent, affine := mat.NewDense(rows, d, nil), mat.NewDense(rows, d, nil), mat.NewDense(rows, 1+d, nil)
		for r := range rows {
			_, dx, dt := s.row(first + r)
			at := u[(first+r)*d : (first+r+1)*d]
			f.kernel(k.RawRowView(r), at)
			weighted.RowView(r).(*mat.VecDense).ScaleVec(dt, k.RowView(r))
			copy(moved.RawRowView(r), dx)
			affine.Set(r, 0, dt)
			bend := b.bend(at)
			for i, ui := range at {
				affine.Set(r, 1+i, dt*ui)
				bent.Set(r, i, dt*bend*ui)
			}
		}
		addProductT(sums.gram, k, weighted)
		addProductT(sums.push, k, moved)
		addProductT(sums.skew, k, bent)
		addProductT(sums.shadow, k, affine)
	}
	return sums
}

// project settles A and takes out of the sums what the affine fields explain.
func (sums *bumpSums) project(m *moments) error {
	d := len(m.push)
	normal, moved, bent := mat.NewSymDense(1+d, nil), mat.NewDense(1+d, d, nil), mat.NewDense(1+d, d, nil)
	normal.SetSym(0, 0, m.seconds)
	for i := range d {
		moved.Set(0, i, m.push[i])
		bent.Set(0, i, m.skew[i])
		for j := range d {
			moved.Set(1+j, i, m.turn.At(i, j))
			bent.Set(1+j, i, m.curl.At(i, j))
			normal.SetSym(1+i, 1+j, m.spread.At(i, j))
		}
		normal.SetSym(1+i, 1+i, m.spread.At(i, i)+singular*m.seconds)
	}
	var factor mat.Cholesky
	if !finite(normal.RawSymmetric().Data) || !factor.Factorize(normal) {
		return errMoments
	}
	sums.affine = new(mat.Dense)
	if err := factor.SolveTo(sums.affine, sums.shadow.T()); err != nil {
		return errMoments
	}
	subtractProductT(sums.gram, sums.affine, sums.shadow.T())
	subtractProductT(sums.push, sums.affine, moved)
	subtractProductT(sums.skew, sums.affine, bent)
	return nil
}

// blur takes the noise's share out of b and says how much surer b would be without noise, doc.go (14). What the noise in u does to
// the affine part of b is in it already.
func (sums *bumpSums) blur(f *bumps, s *steps, b *basis, u []float64) {
	d, size := f.d, f.points.RawMatrix().Rows
	mean := 0.0
	for _, r := range s.noise {
		mean += r / float64(d)
	}
	sums.variance = mat.DenseCopyOf(sums.gram)
	k, share := make([]float64, size), make([]float64, size)
	for first := 0; first < s.len(); first += bumpRows {
		slope := mat.NewDense(min(bumpRows, s.len()-first), size, nil) // of f along one dimension, times √ of its weight in V
		for i, noise := range s.noise {
			clear(share)
			for r := range slope.RawMatrix().Rows {
				_, _, dt := s.row(first + r)
				at := u[(first+r)*d : (first+r+1)*d]
				weight := math.Sqrt(mean*(dt+(2+1/float64(d))*noise)) / b.scale
				f.kernel(k, at)
				for m, v := range k {
					v *= (f.points.At(m, i) - at[i]) / (f.length * f.length)
					share[m] += v
					slope.Set(r, m, weight*(v-sums.affine.At(1+i, m)))
				}
			}
			addProductT(sums.variance, slope, slope)
			for m, v := range share {
				sums.push.Set(m, i, sums.push.At(m, i)+noise/b.scale*v)
			}
		}
	}
}

// addProductT adds x'y to dst.
func addProductT(dst, x, y *mat.Dense) {
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, x.RawMatrix(), y.RawMatrix(), 1, dst.RawMatrix())
}

// subtractProductT takes x'y from dst.
func subtractProductT(dst *mat.Dense, x, y mat.Matrix) {
	var product mat.Dense
	product.Mul(x.T(), y)
	dst.Sub(dst, &product)
}
