package offline

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/diffusion"
	"driftscope/online/onlinetest"
)

// off returns the mean square distance of z from the truth per coordinate, in units of Δt.
func off(z *mat.Dense, truth [][]float64) float64 {
	sum := 0.0
	for k, row := range truth {
		sum += onlinetest.SquareDistance(z.RawRowView(k), row) / float64(len(row)*len(truth)) / onlinetest.Step
	}
	return sum
}

// TestSmooth: in units of Δt, measurements of variance r give a diffusion of σ = 1 with the variance (1/r + 2/P)⁻¹, where P = ½(1 + √(1+4r)) is the variance
// of the forecast from either side. The law is unknown. 1000 frames at r = 10 have 270 independent errors, so the result scatters by 9 %.
func TestSmooth(t *testing.T) {
	suite.Calculation(t)
	for _, r := range []float64{0.5, 3, 10} {
		for _, name := range []string{"balls constant", "balls OU", "digits circle"} {
			s := onlinetest.Named(name)
			seen, truth := s.Film(1000, r, onlinetest.Rand(40))
			z, err := Smooth(seen, Config{Dim: len(s.From)})
			if err != nil {
				t.Fatal(err)
			}
			ahead := (1 + math.Sqrt(1+4*r)) / 2 // P solves P = Pr/(P+r) + 1
			got, want := off(z, truth), 1/(1/r+2/ahead)
			t.Logf("%s, r = %g: error %.3f, %.3f for a known law", name, r, got, want)
			if math.Abs(got/want-1) > 0.2 {
				t.Errorf("%s, r = %g: the error is %.3f, expected about %.3f", name, r, got, want)
			}
		}
	}
}

// TestSmoothAgainstRegression: the mean given all measurements is the most likely path, which solves one large linear system.
func TestSmoothAgainstRegression(t *testing.T) {
	const n, d = 12, 2
	rng := onlinetest.Rand(41)
	s := &smoother{active: []int{0, 1}, root: []float64{2, 0.5}, offset: mat.NewVecDense(d, []float64{3, -1}),
		slope: mat.NewDense(d, d, []float64{-4, 2, -3, -1}), noise: mat.NewDense(d, d, []float64{0.3, 0, 0, 0.02})}
	z, dt := mat.NewDense(n, d, onlinetest.Normals(n*d, rng)), make([]float64, n-1)
	for k := range dt {
		dt[k] = 0.01 + 0.2*rng.Float64()
	}
	x := s.rows(z)
	// Minimise Σ (m - x)²/R + Σ |x₊ - Fx - aΔt|²/Δt. The path begins at the first measurement with variance R.
	normal, right := mat.NewDense(n*d, n*d, nil), mat.NewVecDense(n*d, nil)
	add := func(row *mat.VecDense, want, variance float64) {
		normal.RankOne(normal, 1/variance, row, row)
		right.AddScaledVec(right, want/variance, row)
	}
	for k := range n {
		for i := range d {
			row := mat.NewVecDense(n*d, nil)
			row.SetVec(k*d+i, 1)
			add(row, x[k].AtVec(i), s.noise.At(i, i))
			if k == 0 {
				continue
			}
			f := s.transition(dt[k-1])
			for j := range d {
				row.SetVec((k-1)*d+j, -f.At(i, j))
			}
			add(row, s.offset.AtVec(i)*dt[k-1], dt[k-1])
		}
	}
	var want mat.VecDense
	if err := want.SolveVec(normal, right); err != nil {
		t.Fatal(err)
	}
	if err := s.smooth(z, dt); err != nil {
		t.Fatal(err)
	}
	for k, row := range s.rows(z) {
		for i := range d {
			if gap := math.Abs(row.AtVec(i) - want.AtVec(k*d+i)); gap > 1e-9 {
				t.Fatalf("latent %d, dimension %d: differs by %g from the regression", k, i, gap)
			}
		}
	}
}

// TestSmoothLeavesAlone: Smooth leaves latents without noise and latents that do not move unchanged, and latents beyond a cut have no effect.
func TestSmoothLeavesAlone(t *testing.T) {
	s := onlinetest.Named("balls OU")
	seen, truth := s.Film(600, 0, onlinetest.Rand(42))
	z, err := Smooth(seen, Config{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	if o := off(z, truth); o > 1e-3 { // the bank's smallest noise, at ψ = 1e4
		t.Errorf("latents without noise move by %.2g of a frame's motion", o)
	}
	still, _ := s.Film(60, 1, onlinetest.Rand(43)) // too few latents to decide which dimensions move
	z, err = Smooth(still, Config{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	for k, l := range still {
		if z.At(k, 0) != l.Mean[0] || z.At(k, 1) != l.Mean[1] {
			t.Fatalf("latent %d of a recording with too few latents has changed", k)
		}
	}
	apart, _ := s.Film(600, 1, onlinetest.Rand(44))
	far := append([]latent.Latent(nil), apart...)
	for k := 300; k < 600; k++ {
		apart[k].Trajectory, far[k].Trajectory = 1, 1
		far[k].Mean = []float64{apart[k].Mean[0] + 1e-9, apart[k].Mean[1]}
	}
	far[300].Mean = []float64{apart[300].Mean[0] + 1, apart[300].Mean[1]}
	one, err := Smooth(apart, Config{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	other, err := Smooth(far, Config{Dim: 2})
	if err != nil {
		t.Fatal(err)
	}
	if gap := math.Abs(one.At(299, 0) - other.At(299, 0)); gap > 0.01 { // the learnt law differs slightly; a neighbour would move the latent by 0.2
		t.Errorf("latents beyond a cut move the latent before the cut by %.3f", gap)
	}
	seen[50].Mean[1] = math.NaN()
	if _, err := Smooth(seen, Config{Dim: 2}); !errors.Is(err, diffusion.ErrLatent) {
		t.Errorf("for NaN, found %v", err)
	}
}
