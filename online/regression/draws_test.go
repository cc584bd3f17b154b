package regression

import (
	"math"
	"testing"

	"driftscope/online/onlinetest"
)

// The mean of random drifts equals the posterior's mean within five standard errors, for every kind of law.
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
				t.Errorf("%s, coordinate %d: the random drifts have the mean %g ± %g, the posterior %g", name, i, mean[i], se, want[i])
			}
		}
	}
}

// The random drifts for a spring include the distance between its centre and the mean of the latents: at the mean, the drift has an uncertainty of 1/√T. 400
// random drifts give it to 3 %. Combinations without other groups reduce it, and a prior on the constants adds their mean.
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
		t.Errorf("the drift at the mean position has an uncertainty of %.3f, expected %.3f", sd, want)
	}
}
