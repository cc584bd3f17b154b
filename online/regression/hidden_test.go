package regression

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"

	"driftscope/online/onlinetest"
)

// TestColouredIsItsDefinition: the recursion gives the same densities as the joint law of the whole series.
func TestColouredIsItsDefinition(t *testing.T) {
	const n, memory, share = 30, 8, 0.3
	e, white, coloured30 := mat.NewDense(n, 1, onlinetest.Normals(n, onlinetest.Rand(1))), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		white.SetSym(i, i, 1)
		for j := range i {
			coloured30.SetSym(i, j, share*math.Exp(-float64(i-j)/memory))
		}
		coloured30.SetSym(i, i, 1)
	}
	want := 0.0
	for covariance, sign := range map[*mat.SymDense]float64{white: -1, coloured30: 1} {
		law, ok := distmv.NewNormal(make([]float64, n), covariance, nil)
		if !ok {
			t.Fatal("the covariance is not positive definite")
		}
		want += sign * law.LogProb(e.RawMatrix().Data)
	}
	onlinetest.Within(t, "log likelihood ratio", coloured(e, memory, share), []float64{want}, 1e-10)
}
