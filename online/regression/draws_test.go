package regression

import (
	"math"
	"testing"

	"driftscope/online/onlinetest"
)

// Draws have the posterior's mean, within five standard errors, in every kind of law.
func TestDrawsHaveTheMean(t *testing.T) {
	const n = 2000
	for _, name := range []string{"balls circle", "5 balls OU", "Wasserstein double well", "ball + Wasserstein OU"} {
		s := onlinetest.Named(name)
		seen, truth := s.Film(500, 0, onlinetest.Rand(3))
		p, err := learntFrom(stepsOf(s, seen, 0))
		if err != nil {
			t.Fatal(err)
		}
		z, d := truth[250], len(s.From)
		want, got, mean, square := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		p.Drift(want, z)
		for _, one := range p.Draws(n, onlinetest.Rand(4)) {
			one.Drift(got, z)
			for i, v := range got {
				mean[i] += v / n
				square[i] += v * v / n
			}
		}
		for i := range mean {
			if se := math.Sqrt((square[i] - mean[i]*mean[i]) / n); math.Abs(mean[i]-want[i]) > 5*se {
				t.Errorf("%s, coordinate %d: draws have the mean %g ± %g, the posterior %g", name, i, mean[i], se, want[i])
			}
		}
	}
}

// The draws of a spring know that its centre is not the mean place of the latents: there the drift is 1/√T uncertain. 400 draws tell that to 3 %; where no
// field but constants is on, it is less, and where their prior counts, their mean adds to it.
func TestDrawsDoubtTheCentre(t *testing.T) {
	const n = 400
	s := onlinetest.Named("balls OU")
	seen, _ := s.Film(600, 0, onlinetest.Rand(3))
	p, err := learntFrom(stepsOf(s, seen, 0))
	if err != nil {
		t.Fatal(err)
	}
	square, got := 0.0, make([]float64, 2)
	for _, one := range p.Draws(n, onlinetest.Rand(4)) {
		one.Drift(got, p.basis.centre)
		square += (got[0]*got[0] + got[1]*got[1]) / (2 * n)
	}
	if sd, want := math.Sqrt(square), 1/math.Sqrt(p.seconds); sd < 0.9*want || sd > 1.2*want {
		t.Errorf("the drift at the mean place is %.3f uncertain, expected %.3f", sd, want)
	}
}
