package offline

import (
	"testing"

	"driftscope/internal/suite"
	"driftscope/online/onlinetest"
	"driftscope/online/regression"
)

// TestEnoughDimensions: latents without a hidden coordinate raise no alarm, whatever their law and the noise. At the shortest allowed A the alarm begins at a
// likelihood ratio of 20, which white innovations exceed at most once in 20 times. Relative to a mean drift that was learnt from them, none of 288 such
// recordings exceeded 2.
func TestEnoughDimensions(t *testing.T) {
	suite.Calculation(t)
	well := func(mu, z []float64) {
		for i, v := range z {
			mu[i] = 4 * v * (1 - v*v)
		}
	}
	for name, law := range map[string]onlinetest.Drift{"spring": onlinetest.Spring, "circle": onlinetest.Circle, "double well": well, "constant": onlinetest.Constant} {
		for k, r := range []float64{0, 0.5, 1, 9} {
			for seed := range uint64(2) {
				seen, _ := onlinetest.Stream(law, 1000, r, onlinetest.Rand(700+10*uint64(k)+seed))
				found, err := read(seen, Config{Dim: 2})
				if err != nil {
					t.Fatal(err)
				}
				w := regression.NewWhitener(found.found, found.sde.Activity, nil)
				p := regression.NewPosterior(w, 2, nil)
				if err := p.Learn(w, found.track()); err != nil {
					t.Fatal(err)
				}
				if h := p.Hidden(w.Steps(found.track())); !(h < 20) {
					t.Errorf("%s, r = %g, seed %d: likelihood ratio %.3g", name, r, seed, h)
				} else if h > 1 {
					t.Logf("%s, r = %g, seed %d: likelihood ratio %.3g", name, r, seed, h)
				}
			}
		}
	}
}
