package gauge

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/video"
)

// mixed returns n frames of a two-dimensional Brownian motion with sigma = I, observed through a linear map with localisation noise.
func mixed(n int, dt, noise float64, seed uint64) (m []float32, pairs []video.Pair) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var x, y float64
	for i := range n {
		a, b := x+noise*rng.NormFloat64(), y+noise*rng.NormFloat64()
		m = append(m, float32(3*a+b+7), float32(-a+0.5*b))
		pairs = append(pairs, video.Pair{First: i, DT: dt})
		x += math.Sqrt(dt) * rng.NormFloat64()
		y += math.Sqrt(dt) * rng.NormFloat64()
	}
	return m, pairs[:n-1]
}

func TestWhitenMakesSigmaTheIdentity(t *testing.T) {
	// The sd of a variance estimated from 4000 increments is √(2/4000) = 0.022; with noise r = 1 it is √((6+4·2+2·4)/4000) = 0.074.
	// Four of them are allowed.
	for _, c := range []struct {
		name             string
		noise, tolerance float64
	}{{"without noise", 0, 0.09}, {"noise as large as a step", 0.1, 0.3}} {
		t.Run(c.name, func(t *testing.T) {
			m, pairs := mixed(4001, 0.01, c.noise, 1)
			ref, err := Whiten(m, 2, pairs)
			if err != nil {
				t.Fatal(err)
			}
			truth, _ := mixed(4001, 0.01, 0, 1) // the same path without noise
			z := ref.Polynomial(ref.Affine(truth))
			quadratic, _ := Increments(z, 2, pairs)
			for i := range 2 {
				for j := range 2 {
					want := map[bool]float64{true: 1}[i == j]
					if got := quadratic.At(i, j); c.noise == 0 && math.Abs(got-want) > c.tolerance {
						t.Errorf("C[%d,%d] = %.3f, want %.0f ± %.2f", i, j, got, want, c.tolerance)
					}
				}
			}
			if c.noise > 0 { // the map itself must not depend on the noise
				clean, _ := Whiten(truth, 2, pairs)
				for k, v := range ref.To.RawMatrix().Data {
					if w := clean.To.RawMatrix().Data[k]; math.Abs(v-w) > c.tolerance*mat.Norm(clean.To, 2) {
						t.Errorf("map entry %d is %.3f with noise, %.3f without", k, v, w)
					}
				}
			}
		})
	}
}

func TestWhitenLeavesStillAxesAlone(t *testing.T) {
	m, pairs := mixed(500, 0.01, 0, 3)
	for i := 1; i < len(m); i += 2 {
		m[i] = 1 // the second axis never moves
	}
	ref, err := Whiten(m, 2, pairs)
	if err != nil {
		t.Fatal(err)
	}
	if gain := mat.Norm(ref.To, 2) * mat.Norm(ref.Back, 2); gain > 1.01/math.Sqrt(floor) {
		t.Errorf("the map's condition is %.0f: an axis without motion was amplified", gain)
	}
	if _, err := Whiten(make([]float32, 1000), 2, pairs); err == nil {
		t.Error("latents that never move were whitened")
	}
}
