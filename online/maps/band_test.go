package maps

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestBand: determinant, solution and inverse are those of the dense matrix, to rounding.
func TestBand(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n, width = 30, 5
	b, dense := newBand(n, width), mat.NewSymDense(n, nil)
	for i := range n {
		for j := max(0, i-width); j <= i; j++ {
			v := rng.NormFloat64()
			if i == j {
				v += 2 * width
			}
			b.add(i, j, v)
			dense.SetSym(i, j, v)
		}
	}
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	b.times(y, x)
	logDet, ok := b.factor()
	var inverse mat.Dense
	if err := inverse.Inverse(dense); err != nil || !ok {
		t.Fatal(err, ok)
	}
	if want, _ := mat.LogDet(dense); math.Abs(logDet-want) > 1e-9 {
		t.Errorf("ln det %g, expected %g", logDet, want)
	}
	b.solve(y)
	z, _ := b.inverse(nil)
	for i := range n {
		if math.Abs(x[i]-y[i]) > 1e-9 {
			t.Errorf("solution %g, expected %g", y[i], x[i])
		}
		for j := max(0, i-width); j <= i; j++ {
			if math.Abs(z.entry(j, i)-inverse.At(i, j)) > 1e-9 {
				t.Errorf("inverse (%d, %d) %g, expected %g", i, j, z.entry(i, j), inverse.At(i, j))
			}
		}
	}
	b.at[0] = -1
	if _, ok := b.factor(); ok {
		t.Error("factored what is not positive")
	}
}
