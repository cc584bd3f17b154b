package sdevae

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// TestLowSNRTrains: a square that stands out of the noise by less than its sd in no pixel, but by 8 of the whole. Random first
// layers hardly see it, and the first steps of a random decoder hide it for good.
func TestLowSNRTrains(t *testing.T) {
	suite.Long(t)
	clip, x, y := sdevaetest.WalkingSquare(400)
	sdevaetest.AddNoise(clip, 0.25, true)
	if moves := 1 - clip.Noise()/clip.Energy(); moves > numeric.LeastLayer {
		t.Fatalf("%.3f of the clip's energy moves, too much to try", moves)
	}
	r, err := Train(context.Background(), clip, Config{Latent: 2, Seed: 1, Tau: TauOf(clip), Steps: 40, Restarts: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.Model.Encode(clip.Pixels, nil, clip.Len())
	r.Model.Close()
	if err != nil {
		t.Fatal(err)
	}
	if r.Best.Explained < 0.5 {
		t.Errorf("%.2f of what moves is explained, expected 0.5 (0.9 measured)", r.Best.Explained)
	}
	for axis, truth := range map[string][]float64{"x": x, "y": y} {
		if r2 := sdevaetest.R2(p.Mean, 2, truth); r2 < 0.35 {
			t.Errorf("the latents explain %.2f of %s, expected 0.35 (0.5 measured, they are bent): without a start there is 0", r2, axis)
		}
	}
}

// TestLowSNRNothing: white noise alone stays the mean picture, however little there is to explain. The encoder is not primed, which
// takes long.
func TestLowSNRNothing(t *testing.T) {
	suite.Calculation(t)
	clip, _, _ := sdevaetest.WalkingSquare(60)
	clear(clip.Pixels)
	sdevaetest.AddNoise(clip, 0.36, false)
	s := begun(t, clip, Config{Latent: 2, Seed: 1, Tau: TauOf(clip), Steps: 10, Pairs: 10, Restarts: 1, Every: 5})
	if !s.job.lowSNR() {
		t.Fatalf("%.3f of noise is said to move", s.job.moving)
	}
	s.model.DrawMean()
	if err := s.run(context.Background(), s.job.config.Steps); err != nil {
		t.Fatal(err)
	}
	if s.best.Explained >= nothingLearnt {
		t.Errorf("%.3f of nothing is explained", s.best.Explained)
	}
}

// small is a bright square of 3 pixels a side that walks over a picture of 64, under noise.
func small(n int) *video.Clip {
	rng := rand.New(rand.NewPCG(8, 8))
	c := &video.Clip{Channels: 1, Height: 64, Width: 64}
	u, v := 32.0, 32.0
	for i := range n {
		u, v = min(max(u+2*rng.NormFloat64(), 8), 56), min(max(v+2*rng.NormFloat64(), 8), 56)
		for p := range c.Size() {
			pixel := 0.3 + 0.1*rng.NormFloat64()
			if math.Abs(float64(p%64)-u) < 1.5 && math.Abs(float64(p/64)-v) < 1.5 {
				pixel += 0.35
			}
			c.Pixels = append(c.Pixels, float32(min(max(pixel, 0), 1)))
		}
		c.Times, c.Trajectory = append(c.Times, float64(i)), append(c.Trajectory, 0)
	}
	return c
}

// TestLowSNRSmallObject: in the moments of a large picture the noise outweighs what is small, unless the first layer leaves it out.
func TestLowSNRSmallObject(t *testing.T) {
	suite.Long(t)
	clip := small(300)
	s := begun(t, clip, Config{Latent: 2, Seed: 1, Tau: TauOf(clip), Steps: 10, Restarts: 1})
	if !s.job.lowSNR() {
		t.Fatalf("%.3f of the clip's energy moves, too much to try", s.job.moving)
	}
	m, pairs := s.model, numeric.Spread(s.job.train, lowSNRPairs)
	m.AverageKernels(clip)
	all, err := m.InitSlow(clip, pairs)
	if err != nil {
		t.Fatal(err)
	}
	m.RaiseThreshold(clip)
	lifted, err := m.InitSlow(clip, pairs)
	if err != nil {
		t.Fatal(err)
	}
	if lifted < all+0.2 {
		t.Errorf("the components' correlations add up to %.2f, and to %.2f where only what stands out is seen: expected 0.2 more (1.28 and 1.72 measured)", all, lifted)
	}
}

// TestInitialiseUnderLight: what is the same in all of a film lasts longer than what moves, and is no latent.
func TestInitialiseUnderLight(t *testing.T) {
	suite.Long(t)
	clip, x, y := sdevaetest.WalkingSquare(400)
	for i := range clip.Len() {
		film := i / 100
		clip.Trajectory[i] = uint64(film)
		for p := range clip.Frame(i) {
			clip.Frame(i)[p] = 0.5*clip.Frame(i)[p] + 0.12*float32(film)
		}
	}
	s := begun(t, clip, Config{Latent: 2, Seed: 1, Tau: TauOf(clip), Steps: 10, Restarts: 1})
	if err := s.initialise(); err != nil {
		t.Fatal(err)
	}
	p, err := s.model.Encode(clip.Pixels, nil, clip.Len())
	if err != nil {
		t.Fatal(err)
	}
	for axis, truth := range map[string][]float64{"x": x, "y": y} {
		if r2 := sdevaetest.R2(p.Mean, 2, truth); r2 < 0.5 {
			t.Errorf("the first latents explain %.2f of %s, expected 0.5 (0.77 and 0.69 measured, 0.30 and 0.20 beside the light)", r2, axis)
		}
	}
}

// begun is the first restart of a training, not primed.
func begun(t *testing.T, clip *video.Clip, c Config) *session {
	t.Helper()
	j, err := newJob(context.Background(), Training{}, clip, c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSession(j, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.discard)
	return s
}
