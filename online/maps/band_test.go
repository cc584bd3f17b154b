package maps

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestBand compares the determinant, the solution and the inverse between neighbouring corners with the dense matrix, to rounding, for several row lengths.
func TestBand(t *testing.T) {
	for _, nx := range []int{2, 3, 4, 5, 7} {
		checkBand(t, nx)
	}
}

func checkBand(t *testing.T, nx int) {
	rng := rand.New(rand.NewPCG(1, 2))
	n, width := 9*nx, smoothOrder*nx
	b, dense := newBand(n, width), mat.NewSymDense(n, nil)
	for i := range n {
		for j := max(0, i-width); j <= i; j++ {
			v := rng.NormFloat64()
			if i == j {
				v += 2 * float64(width)
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
	b.inverse(nil)
	z := b.near(nx)
	for i := range n {
		if math.Abs(x[i]-y[i]) > 1e-9 {
			t.Errorf("solution %g, expected %g", y[i], x[i])
		}
		for j := range i + 1 {
			if i/nx-j/nx > 2 || i%nx-j%nx > 2 || j%nx-i%nx > 2 {
				continue
			}
			if v := z.entry(nx, j, i); math.Abs(v-inverse.At(i, j)) > 1e-9 {
				t.Errorf("%d corners per row: inverse (%d, %d) is %g, expected %g", nx, i, j, v, inverse.At(i, j))
			}
		}
	}
	b.at[0] = -1
	if _, ok := b.factor(); ok {
		t.Error("factored a matrix that is not positive definite")
	}
}
