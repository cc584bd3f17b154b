package evaluation

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/internal/suite"
	"driftscope/online/drift"
	"driftscope/online/offline"
)

// randomWalk returns 101 positions in the plane, one per row.
func randomWalk() *mat.Dense {
	rng := rand.New(rand.NewPCG(1, 2))
	walk, x, y := mat.NewDense(101, 2, nil), 0.0, 0.0
	for i := range 101 {
		x, y = x+rng.NormFloat64(), y+rng.NormFloat64()
		walk.SetRow(i, []float64{x, y})
	}
	return walk
}

// upTo returns the rows 0 to n-1.
func upTo(n int) (rows []int) {
	for i := range n {
		rows = append(rows, i)
	}
	return rows
}

// TestPlaces: the inverse of a map takes the truth to coordinates of the latents: for an isometry the paper's Qᵀ(x - b), and with more latents
// than coordinates the nearest of the points that the map takes to the truth.
func TestPlaces(t *testing.T) {
	suite.Long(t)
	walk := randomWalk()
	n, _ := walk.Dims()
	for d, how := range map[int]string{2: "isometry", 3: "affine"} {
		rng := rand.New(rand.NewPCG(3, 4))
		z := mat.NewDense(n, d, nil)
		for i := range n {
			x, y := walk.At(i, 0), walk.At(i, 1)
			z.SetRow(i, append([]float64{0.6*x - 0.8*y + 7 + 0.1*rng.NormFloat64(), 0.8*x + 0.6*y - 2 + 0.1*rng.NormFloat64()}, make([]float64, d-2)...))
			if d == 3 {
				z.Set(i, 2, rng.NormFloat64())
			}
		}
		a, err := Lay(how, z, walk, upTo(n))
		if err != nil {
			t.Fatal(err)
		}
		places, err := a.places(z, walk)
		if err != nil {
			t.Fatal(err)
		}
		if off := Sum(offline.MeanSquares(a.To.Apply(places), walk)); off > 1e-20 {
			t.Errorf("%s of %d latents: the places lie %g from the truth, expected rounding alone", how, d, off)
		}
		if how == "isometry" {
			var want mat.Dense
			want.Apply(func(_, j int, v float64) float64 { return v - a.To.Offset[j] }, walk)
			var turned mat.Dense
			turned.Mul(&want, a.To.Linear.T())
			if off := Sum(offline.MeanSquares(places, &turned)); off > 1e-20 {
				t.Errorf("the places are %g from Qᵀ(x - b)", off)
			}
			continue
		}
		if moved := Sum(offline.MeanSquares(places, z)); moved > 0.1 { // 0.02 across the plane; the third latent, of 1, need not move
			t.Errorf("the places are %g from the latents", moved)
		}
	}
}

// TestDriftAtTheTruth: a model with the true drift has no drift error at the true positions, even if its latents are far from the truth. At the
// latents their distance adds an error.
func TestDriftAtTheTruth(t *testing.T) {
	suite.Long(t)
	walk := randomWalk()
	n, _ := walk.Dims()
	const kappa = 2.0
	spring := drift.NewNetwork(2, rand.New(rand.NewPCG(5, 6)))
	clear(spring.Weights)
	for i := range 2 {
		spring.Weights[spring.Size()-4+3*i] = -kappa
	}
	rng := rand.New(rand.NewPCG(7, 8))
	z, mu := mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil)
	for i := range n {
		x, y := walk.At(i, 0), walk.At(i, 1)
		z.SetRow(i, []float64{x + rng.NormFloat64(), y + rng.NormFloat64()})
		mu.SetRow(i, []float64{-kappa * x, -kappa * y})
	}
	all := upTo(n)
	// The truth and the latents have the same coordinates: no rotation, no shift.
	a := &Alignment{"isometry", &offline.Map{Linear: mat.NewDense(2, 2, []float64{1, 0, 0, 1}), Offset: make([]float64, 2)}, z}
	model := &infer.Model{Card: card.Card{Latent: 2, Seconds: 1, Sigma: []float64{1, 1},
		Drift: &card.Drift{Hidden: spring.Hidden, Centre: spring.Centre, Scale: 1, Weights: spring.Weights}}}
	e, err := Judge(model, &Encoded{Z: z, Times: make([]float64, n)}, &Truth{Z: walk, Mu: mu}, all, a)
	if err != nil {
		t.Fatal(err)
	}
	if *e.LMu > 1e-20 || math.Abs(*e.LMuSeen-kappa*kappa*e.LLatent) > 1e-9 || e.LLatent < 1 {
		t.Errorf("L_mu %g at the truth, %g at the latents, which are off by %g: expected 0 and %g times that", *e.LMu, *e.LMuSeen, e.LLatent, kappa*kappa)
	}
}
