package sdevae

import (
	"math"
	"math/rand/v2"
	"testing"
)

// filmed is a ring that drifts, cut into films of n frames; each has its own of four backdrops, of more energy than the ring's motion.
func filmed(n int) *Clip {
	clip, _ := drifting(200, 5, ring)
	for f := range clip.Len() {
		film := f / n
		clip.Trajectory[f] = uint64(film)
		for i, v := range clip.Frame(f) {
			x, y := i%clip.Width, i/clip.Width%clip.Height
			clip.Frame(f)[i] = min(1, v+0.05*float32(film%4)*float32(1+math.Sin(float64(x)/5)*math.Cos(float64(y)/5)))
		}
	}
	return clip
}

// TestFilmsApart: what tells films apart is beside nothing. The ring is what moves, and other latents are to spare.
func TestFilmsApart(t *testing.T) {
	for _, latents := range []int{2, 4} {
		clip := filmed(50)
		j, err := newJob(t.Context(), Training{}, clip, Config{Latent: latents, Seed: 1, Tau: TauOf(clip)})
		if err != nil {
			t.Fatal(err)
		}
		if j.trail == nil || j.trail.beside != nil || j.trail.explained < 0.95 || len(j.trail.mean) != latents {
			t.Errorf("%d latents: no trail of one thing that explains what moves", latents)
		}
		if j.clip != clip {
			t.Error("what is trained on is not the clip")
		}
	}
}

// TestLeveled: films lose their backdrops, and what moves within them is kept.
func TestLeveled(t *testing.T) {
	plain, _ := drifting(200, 5, ring)
	clip := filmed(50)
	level := clip.leveled(t.Context(), clip.frames(), 1)
	var backdrops []float32
	for film := range 4 {
		backdrop := make([]float32, clip.Size())
		for i := range backdrop {
			backdrop[i] = level.Frame(50 * film)[i] - plain.Frame(50 * film)[i]
			for f := 50 * film; f < 50*film+50; f++ {
				if v := level.Frame(f)[i] - plain.Frame(f)[i]; clip.Frame(f)[i] < 1 && math.Abs(float64(v-backdrop[i])) > 1e-6 {
					t.Fatalf("frame %d changes by %g at pixel %d, the first of its film by %g", f, v, i, backdrop[i])
				}
			}
		}
		backdrops = append(backdrops, backdrop...)
	}
	// A median of 50 frames with noise of 0.01 is off by 0.0018; with what is left of the ring it is 0.0022. The backdrops had 0.060.
	if rms := math.Sqrt(squaredError(backdrops, average(backdrops, 4, clip.Size())) / float64(len(backdrops))); rms > 0.004 {
		t.Errorf("backdrops differ by %.4f", rms)
	}
}

// lingering is four films of one backdrop, in each of which a ring stays about another place.
func lingering() *Clip {
	clip, _ := drifting(200, 5, func(x, y float64) float64 { return 0 })
	rng := rand.New(rand.NewPCG(5, 1))
	for f := range clip.Len() {
		film := f / 50
		clip.Trajectory[f] = uint64(film)
		x, y := 7+3*float64(film)+0.7*rng.NormFloat64(), 12+4*float64(film%2)+0.7*rng.NormFloat64()
		for i := range clip.Frame(f) {
			clip.Frame(f)[i] += float32(ring(float64(i%clip.Width)-x, float64(i/clip.Width)-y))
		}
	}
	return clip
}

// TestNotLeveled: films of one backdrop stay as they are though what lingers in each sets them apart, and so do short and single ones.
func TestNotLeveled(t *testing.T) {
	still := lingering()
	if _, apart := still.medians(still.films()); apart <= mostApart {
		t.Errorf("films differ by %.2f: the ring does not linger", apart)
	}
	for name, clip := range map[string]*Clip{"lingering": still, "short": filmed(40), "single": filmed(200)} {
		if clip.leveled(t.Context(), clip.frames(), 1) != clip {
			t.Error(name, "films are leveled")
		}
	}
}
