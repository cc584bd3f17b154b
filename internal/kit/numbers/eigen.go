package numbers

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// ErrNotFinite reports a matrix with an entry that is NaN or infinite.
var ErrNotFinite = errors.New("the matrix has no principal axes: an entry is NaN or infinite")

// Principal returns Q and λ of x = Q diag(λ) Q', with λ ascending. For a covariance, the columns of Q are the principal axes, and λ are the variances along
// them.
func Principal(x *mat.SymDense) (q *mat.Dense, lambda []float64, err error) {
	var e mat.EigenSym
	if !finite(x) || !e.Factorize(x, true) {
		return nil, nil, ErrNotFinite
	}
	q = new(mat.Dense)
	e.VectorsTo(q)
	return q, e.Values(nil), nil
}

// Congruent returns Q'XQ.
func Congruent(x, q mat.Matrix) *mat.Dense {
	var half, full mat.Dense
	half.Mul(x, q)
	full.Mul(q.T(), &half)
	return &full
}

// Symmetric returns ½(X + X').
func Symmetric(x mat.Matrix) *mat.SymDense {
	n, _ := x.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (x.At(i, j)+x.At(j, i))/2)
		}
	}
	return s
}

// finite reports whether no stored entry of x is NaN or infinite.
func finite(x *mat.SymDense) bool {
	return !slices.ContainsFunc(x.RawSymmetric().Data, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
