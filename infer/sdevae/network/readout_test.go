package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/numeric"
	"driftscope/internal/suite"
)

// TestReadout: the basis is orthonormal and has the expected number of polynomials. A layer on moments and its spread give the same values. keep does not
// change a spread layer, and maps any other layer to the nearest one.
func TestReadout(t *testing.T) {
	suite.Long(t)
	maps := dnnl.Shape{C: 5, H: 6, W: 8}
	const d, n, tolerance = 2, 3, 1e-5 // float32 sums of 240 terms about 1
	rng := rand.New(rand.NewPCG(1, 1))
	normals := func(k int) []float32 {
		v := make([]float32, k)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	for degree := range 4 {
		r := newReadout(maps, degree)
		if want := (degree + 1) * (degree + 2) / 2; r.terms() != want {
			t.Fatalf("degree %d: %d polynomials, expected %d", degree, r.terms(), want)
		}
		var gram mat.Dense
		gram.Mul(r.basis, r.basis.T())
		for i := range r.terms() {
			for j := range r.terms() {
				if want := map[bool]float64{true: 1}[i == j]; math.Abs(gram.At(i, j)-want) > 1e-12 {
					t.Errorf("degree %d: polynomials %d and %d have product %g", degree, i, j, gram.At(i, j))
				}
			}
		}
		h, small := normals(n*maps.Size()), mat.NewDense(maps.C*r.terms(), d, numeric.Float64s(normals(maps.C*r.terms()*d)))
		var want mat.Dense
		want.Mul(r.moments(h, n), small)
		w := numeric.Float32s(r.spread(small).RawMatrix().Data)
		got := make([]float32, n*d)
		numeric.Affine(got, h, w, make([]float32, d))
		for i, v := range got {
			if math.Abs(float64(v)-want.RawMatrix().Data[i]) > tolerance*10 {
				t.Errorf("degree %d: the spread layer gives %g, the layer on moments %g", degree, v, want.RawMatrix().Data[i])
			}
		}
		any := normals(len(w))
		kept := append([]float32(nil), any...)
		r.keep(kept, d)
		var outside, inside float64
		for i, v := range any {
			outside += float64(v-kept[i]) * float64(w[i])
			inside += float64(w[i]) * float64(w[i])
		}
		if math.Abs(outside) > tolerance*inside {
			t.Errorf("degree %d: the removed part has product %g with the basis", degree, outside)
		}
		r.keep(w, d)
		for i, v := range w {
			if want := r.spread(small).RawMatrix().Data[i]; math.Abs(float64(v)-want) > tolerance {
				t.Fatalf("degree %d: keep changes a layer on moments: %g, was %g", degree, v, want)
			}
		}
	}
	if got := newReadout(dnnl.Shape{C: 1, H: 1, W: 2}, 3).terms(); got != 2 {
		t.Errorf("maps of 2 pixels have %d independent moments", got)
	}
}
