package numbers

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestPrincipal(t *testing.T) {
	x := mat.NewSymDense(3, []float64{4, 1, 0, 1, 2, -1, 0, -1, 5})
	q, lambda, err := Principal(x)
	if err != nil {
		t.Fatal(err)
	}
	if !(lambda[0] <= lambda[1] && lambda[1] <= lambda[2]) {
		t.Errorf("variances %v do not ascend", lambda)
	}
	if !mat.EqualApprox(Congruent(x, q), mat.NewDiagDense(3, lambda), 1e-12) {
		t.Errorf("Q'XQ is %v, expected the diagonal %v", mat.Formatted(Congruent(x, q)), lambda)
	}
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		if _, _, err := Principal(mat.NewSymDense(1, []float64{v})); !errors.Is(err, ErrNotFinite) {
			t.Errorf("of %g: %v", v, err)
		}
	}
}

func TestSymmetric(t *testing.T) {
	if s := Symmetric(mat.NewDense(2, 2, []float64{1, 2, 4, 5})); s.At(0, 1) != 3 || s.At(1, 0) != 3 || s.At(1, 1) != 5 {
		t.Errorf("½(X + X') is %v", mat.Formatted(s))
	}
}
