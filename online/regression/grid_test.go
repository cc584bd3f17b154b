package regression

import (
	"math"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/online/diffusion"
	"driftscope/online/onlinetest"
)

// The standard errors are honest: over three films of each law, with and without noise, the mean square error of the published drift is one squared standard
// error at points that latents visited. A film has few degrees of freedom, so the value over all films scatters by a tenth, and by more because the prior
// does not match the laws. For single laws it is between 0.2, without a drift, and 2.
func TestFieldKnowsItsError(t *testing.T) {
	suite.Long(t)
	const films = 3
	for _, r := range []float64{0, 1} {
		whole, laws := 0.0, 0.0
		for _, s := range onlinetest.Scenes {
			if len(s.From) > 4 { // 600 latents are too few in so many dimensions
				continue
			}
			square, points, scarce := 0.0, 0.0, 0
			for film := range uint64(films) {
				f, centre := fieldOf(s, r, film)
				for k, z := range f.Z {
					if f.Scarce[k] {
						scarce++
						continue
					}
					mu, at := make([]float64, len(centre)), append([]float64(nil), centre...)
					for i, axis := range f.Axes {
						at[axis] = z[i]
					}
					s.Law(mu, at)
					for i, axis := range f.Axes {
						square += math.Pow((f.Drift[k][i]-mu[axis])/f.SD[k][i], 2)
						points++
					}
				}
				if len(f.Axes) == 2 && (len(f.Z) != gridSide*gridSide || scarce == 0) {
					t.Errorf("%s, film %d: %d points, %d scarce", s.Name, film, len(f.Z), scarce)
				}
			}
			t.Logf("r %g, %s: errors of %.2f standard errors, %d points scarce", r, s.Name, math.Sqrt(square/points), scarce)
			whole, laws = whole+square/points, laws+1
		}
		if off := math.Sqrt(whole / laws); off < 0.8 || off > 1.15 {
			t.Errorf("r %g: RMS error of %.2f standard errors", r, off)
		} else {
			t.Logf("r %g: errors of %.2f standard errors", r, off)
		}
	}
}

// fieldOf returns the grid of the drift after a film of 600 latents of a law, and the mean of the latents.
func fieldOf(s onlinetest.Scene, r float64, film uint64) (*latent.Field, []float64) {
	seen, _ := s.Film(600, r, onlinetest.Rand(4000+film))
	d := len(s.From)
	l, j := NewLearner(Config{Dim: d, Replay: len(seen), Seed: film}), Job{In: diffusion.NewTrack(d, len(seen))}
	for range d {
		j.Found, j.Activity = append(j.Found, diffusion.Estimate{V: 1, FilterNoise: r * onlinetest.Step}), append(j.Activity, latent.Active)
	}
	for k := range seen {
		dt := onlinetest.Step
		if k == 0 || seen[k].Trajectory != seen[k-1].Trajectory {
			dt = 0
		}
		j.In.Add(seen[k].Mean, dt)
	}
	l = l.After(j)
	centre, _ := visited(l.memory)
	return l.field, centre
}
