package regression

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/online/drift"
)

// rbfRows is the number of transitions per block.
const rbfRows = 256

// rbfSums are sums over the transitions, for the scalars f = k(u) - A'[1,u] of one length scale, (9).
type rbfSums struct {
	gram        *mat.Dense // Σ Δt ff', M×M
	b           *mat.Dense // b, Σ f Δx', M×d
	radial      *mat.Dense // G with the radial field, M×d
	affineCross *mat.Dense // G between k and the affine fields, Σ Δt k [1,u]', M×(1+d)
	affine      *mat.Dense // A, (1+d)×M
}

// gather computes the sums for f = k(u), in blocks of transitions.
func (f *rbf) gather(s *Steps, b *basis) *rbfSums {
	d, size := f.d, f.points.RawMatrix().Rows
	sums := &rbfSums{gram: mat.NewDense(size, size, nil), b: mat.NewDense(size, d, nil), radial: mat.NewDense(size, d, nil),
		affineCross: mat.NewDense(size, 1+d, nil)}
	k, weighted := mat.NewDense(rbfRows, size, nil), mat.NewDense(rbfRows, size, nil)
	moved, radial, affine := mat.NewDense(rbfRows, d, nil), mat.NewDense(rbfRows, d, nil), mat.NewDense(rbfRows, 1+d, nil)
	add := func(rows int) {
		part := func(x *mat.Dense) *mat.Dense { return x.Slice(0, rows, 0, x.RawMatrix().Cols).(*mat.Dense) }
		addProductT(sums.gram, part(k), part(weighted))
		addProductT(sums.b, part(k), part(moved))
		addProductT(sums.radial, part(k), part(radial))
		addProductT(sums.affineCross, part(k), part(affine))
	}
	fields := func(dst, x []float64) { // u, the radial field, k(u)
		b.fields(dst[:2*d], x)
		f.kernel(dst[2*d:], dst[:d])
	}
	rows := 0
	for step, mean := range s.averaged(2*d+size, fields) {
		dx, dt := s.row(step)
		copy(moved.RawRowView(rows), dx)
		affine.Set(rows, 0, dt)
		floats.ScaleTo(affine.RawRowView(rows)[1:], dt, mean[:d])
		floats.ScaleTo(radial.RawRowView(rows), dt, mean[d:2*d])
		copy(k.RawRowView(rows), mean[2*d:])
		floats.ScaleTo(weighted.RawRowView(rows), dt, mean[2*d:])
		if rows++; rows == rbfRows {
			add(rows)
			rows = 0
		}
	}
	if rows > 0 {
		add(rows)
	}
	return sums
}

// project computes A and removes the affine part from the sums.
func (sums *rbfSums) project(m *moments) error {
	d := len(m.constantB)
	normal, moved, radial := mat.NewSymDense(1+d, nil), mat.NewDense(1+d, d, nil), mat.NewDense(1+d, d, nil)
	normal.SetSym(0, 0, m.seconds)
	for i := range d {
		moved.Set(0, i, m.constantB[i])
		radial.Set(0, i, m.constantRadial[i])
		for j := range d {
			moved.Set(1+j, i, m.linearB.At(i, j))
			radial.Set(1+j, i, m.linearRadial.At(i, j))
			normal.SetSym(1+i, 1+j, m.linearG.At(i, j))
		}
		normal.SetSym(1+i, 1+i, m.linearG.At(i, i)+singular*m.seconds)
	}
	var factor mat.Cholesky
	if !drift.Finite(normal.RawSymmetric().Data) || !factor.Factorize(normal) {
		return ErrMoments
	}
	sums.affine = new(mat.Dense)
	if err := factor.SolveTo(sums.affine, sums.affineCross.T()); err != nil {
		return ErrMoments
	}
	subtractProductT(sums.gram, sums.affine, sums.affineCross.T())
	subtractProductT(sums.b, sums.affine, moved)
	subtractProductT(sums.radial, sums.affine, radial)
	return nil
}

// addProductT adds x'y to dst.
func addProductT(dst, x, y *mat.Dense) {
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, x.RawMatrix(), y.RawMatrix(), 1, dst.RawMatrix())
}

// subtractProductT subtracts x'y from dst.
func subtractProductT(dst *mat.Dense, x, y mat.Matrix) {
	var product mat.Dense
	product.Mul(x.T(), y)
	dst.Sub(dst, &product)
}
