package drift

import (
	"testing"

	"driftscope/online/onlinetest"
)

// An affine correction equals its network, without evaluating the hidden layers.
func TestFlatAdditionIsItsNetwork(t *testing.T) {
	n := randomNetwork(3, 7)
	last := n.Hidden[len(n.Hidden)-1]
	clear(n.Weights[n.Size()-3*(last+1+3) : n.Size()-3*(1+3)]) // the output weights of the hidden layers
	z := []float64{0.3, -2, 1}
	var found [2]struct{ mu, jac []float64 }
	for k, flat := range []bool{false, true} {
		f := NewField(nil, &Correction{Network: n, Affine: flat})
		found[k].mu, found[k].jac = make([]float64, 3), make([]float64, 9)
		f.Linearise(found[k].mu, found[k].jac, z)
		mu := make([]float64, 3)
		f.Drift(mu, z)
		onlinetest.Within(t, "drift and tangent", mu, found[k].mu, 1e-12) // sums in a different order
	}
	onlinetest.Within(t, "drift", found[1].mu, found[0].mu, 1e-12)
	onlinetest.Within(t, "Jacobian", found[1].jac, found[0].jac, 1e-12)
}

// Beyond its box, the affine part of a correction continues, and the rest has its value at the edge.
func TestAdditionBeyondItsBox(t *testing.T) {
	n := randomNetwork(2, 8)
	f := NewField(nil, &Correction{Network: n, Low: []float64{-1, -1}, High: []float64{1, 2}})
	mu, jac, edge, inside := make([]float64, 2), make([]float64, 4), make([]float64, 2), make([]float64, 4)
	f.Linearise(mu, jac, []float64{5, 0.5})
	f.Linearise(edge, inside, []float64{1, 0.5})
	near, far, slopes := make([]float64, 2), make([]float64, 2), make([]float64, 4)
	n.affinePart(near, nil, []float64{1, 0.5})
	n.affinePart(far, slopes, []float64{5, 0.5})
	onlinetest.Within(t, "drift", mu, []float64{edge[0] + far[0] - near[0], edge[1] + far[1] - near[1]}, 1e-12)
	onlinetest.Within(t, "Jacobian", jac, []float64{slopes[0], inside[1], slopes[2], inside[3]}, 1e-12)
	again := make([]float64, 2)
	f.Drift(again, []float64{5, 0.5})
	onlinetest.Within(t, "drift and tangent", again, mu, 1e-12)
}

// An affine correction continues beyond the box: a whirl keeps its drift at larger radii.
func TestAffineAdditionGoesOn(t *testing.T) {
	n := NoCorrection(2).Network
	copy(n.Weights[n.Size()-4:], []float64{-1, 3, -3, -1})
	f := NewField(nil, &Correction{Network: n, Low: []float64{-1, -1}, High: []float64{1, 1}, Affine: true})
	mu, jac, drift := make([]float64, 2), make([]float64, 4), make([]float64, 2)
	z := []float64{5, -2}
	f.Linearise(mu, jac, z)
	f.Drift(drift, z)
	onlinetest.Within(t, "drift", drift, mu, 0)
	onlinetest.Within(t, "drift", mu, []float64{-5 + 6, 15 + 2}, 1e-12)
	onlinetest.Within(t, "Jacobian", jac, []float64{-1, -3, 3, -1}, 1e-12)
}
