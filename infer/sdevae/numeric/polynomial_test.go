package numeric_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
)

func TestPolynomialJacobian(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for d := 1; d <= 3; d++ {
		p := sdevaetest.RandomPolynomial(numeric.NewBasis(d, 3), d, 1, rng)
		s := mat.NewDense(1, d, nil)
		for i := range d {
			s.Set(0, i, rng.NormFloat64())
		}
		want := mat.NewDense(d, d, nil) // row i, column j: ∂yᵢ/∂sⱼ
		fd.Jacobian(want, func(y, at []float64) { copy(y, p.Apply(mat.NewDense(1, d, at)).RawRowView(0)) }, s.RawRowView(0),
			&fd.JacobianSettings{Formula: fd.Central})
		slopes, got := mat.NewDense(len(p.Basis), d, nil), p.Jacobian().Apply(s)
		p.Basis.Slopes(slopes, s.RawRowView(0))
		var direct mat.Dense
		direct.Mul(slopes.T(), p.Weights)
		for i := range d {
			for j := range d {
				w := want.At(i, j)
				if g, h := got.At(0, j*d+i), direct.At(j, i); math.Abs(g-w) > 1e-6*(1+math.Abs(w)) || math.Abs(h-w) > 1e-6*(1+math.Abs(w)) {
					t.Errorf("d = %d: ∂y%d/∂s%d is %.7f by the Jacobian, %.7f directly, %.7f by differences", d, i, j, g, h, w)
				}
			}
		}
	}
}
