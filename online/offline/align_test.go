package offline

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/online/onlinetest"
)

// An isometry maps rotated, mirrored and shifted latents back to the truth exactly. Stretched latents need an affine map.
func TestMapsAreFound(t *testing.T) {
	rng := onlinetest.Rand(1)
	z := mat.NewDense(50, 2, onlinetest.Normals(100, rng))
	turned := (&Map{Linear: mat.NewDense(2, 2, []float64{0.6, 0.8, 0.8, -0.6}), Offset: []float64{3, -1}}).Apply(z)
	stretched := (&Map{Linear: mat.NewDense(2, 2, []float64{2, 0.5, 0, -1}), Offset: []float64{3, -1}}).Apply(z)
	for name, c := range map[string]struct {
		find  func(z, truth *mat.Dense) (*Map, error)
		truth *mat.Dense
		exact bool
	}{"turned": {Isometry, turned, true}, "stretched": {Affine, stretched, true}, "stretched, by an isometry": {Isometry, stretched, false}} {
		m, err := c.find(z, c.truth)
		if err != nil {
			t.Fatal(err)
		}
		off := MeanSquares(m.Apply(z), c.truth)
		if worst := math.Max(off[0], off[1]); (worst < 1e-20) != c.exact {
			t.Errorf("%s: found mean squares %v", name, off)
		}
		if r2 := R2(m.Apply(z), c.truth); c.exact && math.Min(r2[0], r2[1]) < 1-1e-12 {
			t.Errorf("%s: R² %v", name, r2)
		}
	}
}

func TestMapsAreRefused(t *testing.T) {
	z := mat.NewDense(4, 2, []float64{1, 2, 3, 4, 5, 6, 7, 8})
	still := mat.NewDense(6, 2, []float64{1, 0, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5})
	for name, find := range map[string]func() error{
		"other frames":     func() error { _, err := Affine(z, mat.NewDense(3, 2, nil)); return err },
		"other dimensions": func() error { _, err := Isometry(z, mat.NewDense(4, 3, nil)); return err },
		"few frames":       func() error { _, err := Affine(z.Slice(0, 3, 0, 2).(*mat.Dense), mat.NewDense(3, 2, nil)); return err },
		"stands still":     func() error { _, err := Affine(still, still); return err },
	} {
		if find() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
