package regression

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/suite"
	"driftscope/online/onlinetest"
)

// TestOracle: L_mu of the posterior mean with known σ. want and scatter are the mean and the standard deviation over 300 films. Over 48 films, a prototype in
// NumPy has 0.26, 0.35, 0.58, 1.20, 0.04, 0.62, 1.24, 0.35, 0.73, 0.11, 0.88, 1.06, 1.70. The mean of eight films must lie within three times scatter/√8.
func TestOracle(t *testing.T) {
	suite.Calculation(t)
	const films = 8
	for k, c := range []struct{ want, scatter float64 }{
		{0.27, 0.33}, {0.38, 0.31}, {0.55, 0.38}, {1.20, 0.50}, {0.05, 0.24}, {0.66, 0.42}, {1.30, 0.55},
		{0.28, 0.26}, {0.64, 0.36}, {0.10, 0.21}, {0.87, 0.35}, {1.03, 0.38}, {1.67, 0.61},
	} {
		s, sum := onlinetest.Scenes[k], 0.0
		for film := range uint64(films) {
			seen, truth := s.Film(1000, 0, onlinetest.Rand(100+film))
			p, err := learntFrom(stepsOf(s, seen, 0))
			if err != nil {
				t.Fatal(err)
			}
			sum += s.Error(p.Drift, truth) / films
		}
		t.Logf("%s: L_mu %.3f", s.Name, sum)
		if math.Abs(sum-c.want) > 3*c.scatter/math.Sqrt(films) {
			t.Errorf("%s: L_mu %.2f, want %.2f ± %.2f", s.Name, sum, c.want, 3*c.scatter/math.Sqrt(films))
		}
	}
}

// TestNoiseIsTakenOut: the noise of a latent shifts the start of a step and, with the opposite sign, its length, so it looks like a spring: of 50/s at r =
// 0.5, where noise and motion per frame are equal. If the noise is known, it must cost little. If it is ignored, L_mu is 9 at r = 0.5.
func TestNoiseIsTakenOut(t *testing.T) {
	suite.Calculation(t)
	const films = 8
	s := onlinetest.Named("balls OU")
	for _, r := range []float64{0.5, 3, 10} {
		var told, untold float64
		for film := range uint64(films) {
			seen, truth := s.Film(1000, r, onlinetest.Rand(200+film))
			add := func(sum *float64, p *Posterior, err error) {
				if err != nil {
					t.Fatal(err)
				}
				*sum += s.Error(p.Drift, truth) / films
			}
			p, err := learntFrom(stepsOf(s, seen, r))
			add(&told, p, err)
			p, err = learntFrom(stepsOf(s, seen, 0))
			add(&untold, p, err)
		}
		t.Logf("r = %g: L_mu %.2f with known noise, %.2f with ignored noise", r, told, untold)
		if told > 0.83 {
			t.Errorf("r = %g: L_mu %.2f with known noise, want at most 0.83", r, told)
		}
		if untold < 2 {
			t.Errorf("r = %g: L_mu %.2f with ignored noise, want at least 2, or the test proves nothing", r, untold)
		}
	}
}

// TestNoiseMakesNothingSurer: without a curved drift, Σ b²/λ of the radial basis functions is χ², also with noise. Over 16 films with about 20 features each,
// the mean b²/λ scatters by 0.09.
func TestNoiseMakesNothingSurer(t *testing.T) {
	suite.Calculation(t)
	const films = 16
	s := onlinetest.Named("balls OU")
	for _, r := range []float64{0, 0.5, 3} {
		square, n := 0.0, 0.0
		for film := range uint64(films) {
			seen, _ := s.Film(1000, r, onlinetest.Rand(300+film))
			all := stepsOf(s, seen, r)
			b := newBasis(all)
			rbfs, err := allRBFs(all, b, newMoments(all, b))
			if err != nil {
				t.Fatal(err)
			}
			for k, lambda := range rbfs[0].lambda {
				for i := range all.dim {
					if lambda > 0.1 {
						square += rbfs[0].b.At(k, i) * rbfs[0].b.At(k, i) / lambda
						n++
					}
				}
			}
		}
		t.Logf("r = %g: %.3f", r, square/n)
		if math.Abs(square/n-1) > 0.3 {
			t.Errorf("r = %g: mean b²/λ is %.2f, want 1", r, square/n)
		}
	}
}

// TestRotationChangesNothing: the drift rotates with the latents. The choice of farthest points has no ties, so only rounding remains.
func TestRotationChangesNothing(t *testing.T) {
	s := onlinetest.Named("ball + Wasserstein anisotropic")
	seen, truth := s.Film(600, 0.2, onlinetest.Rand(9))
	var qr mat.QR
	qr.Factorize(mat.NewDense(3, 3, onlinetest.Normals(9, onlinetest.Rand(10))))
	var q mat.Dense
	qr.QTo(&q)
	turned := stepsOf(s, seen, 0.2)
	for _, x := range [][]float64{turned.x, turned.dx} {
		rows := mat.NewDense(len(x)/3, 3, x)
		rows.Mul(mat.DenseCopyOf(rows), q.T())
	}
	one, err := learntFrom(stepsOf(s, seen, 0.2))
	if err != nil {
		t.Fatal(err)
	}
	other, err := learntFrom(turned)
	if err != nil {
		t.Fatal(err)
	}
	at, mu, back := make([]float64, 3), make([]float64, 3), mat.NewVecDense(3, nil)
	gap := onlinetest.Scene{From: s.From, Law: one.Drift}.Error(func(dst, z []float64) {
		mat.NewVecDense(3, at).MulVec(&q, mat.NewVecDense(3, z))
		other.Drift(mu, at)
		back.MulVec(q.T(), mat.NewVecDense(3, mu))
		copy(dst, back.RawVector().Data)
	}, truth)
	if gap > 1e-12 {
		t.Errorf("the drifts have a mean square difference of %g", gap)
	}
}
