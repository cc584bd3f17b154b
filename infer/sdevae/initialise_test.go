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

// TestLowSNRTrains: in every pixel the square is weaker than the sd of the noise, but as a whole it exceeds the noise by 8 sds. Random first layers hardly
// detect it, and the first steps of a random decoder hide it for good.
func TestLowSNRTrains(t *testing.T) {
	suite.Long(t)
	clip, x, y := sdevaetest.WalkingSquare(400)
	sdevaetest.AddNoise(clip, 0.25, true)
	if moves := 1 - clip.Noise()/clip.Energy(); moves > numeric.LeastLayer {
		t.Fatalf("the share of motion in the clip's energy is %.3f, too large for this test", moves)
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
		t.Errorf("the explained share of the motion is %.2f, expected 0.5 (0.9 measured)", r.Best.Explained)
	}
	for axis, truth := range map[string][]float64{"x": x, "y": y} {
		if r2 := sdevaetest.R2(p.Mean, 2, truth); r2 < 0.35 {
			t.Errorf("the latents explain %.2f of %s, expected 0.35 (0.5 measured, because they are bent; 0 without the initialisation)", r2, axis)
		}
	}
}

// TestLowSNRNothing: for pure white noise the reconstruction stays at the mean picture. The encoder is not initialised, because that takes long.
func TestLowSNRNothing(t *testing.T) {
	suite.Calculation(t)
	clip, _, _ := sdevaetest.WalkingSquare(60)
	clear(clip.Pixels)
	sdevaetest.AddNoise(clip, 0.36, false)
	s := begun(t, clip, Config{Latent: 2, Seed: 1, Tau: TauOf(clip), Steps: 10, Pairs: 10, Restarts: 1, Every: 5})
	if !s.job.lowSNR() {
		t.Fatalf("the share of motion in pure noise is %.3f", s.job.moving)
	}
	s.model.DrawMean()
	if err := s.run(context.Background(), s.job.config.Steps); err != nil {
		t.Fatal(err)
	}
	if s.best.Explained >= nothingLearnt {
		t.Errorf("a share of %.3f is explained in a clip without motion", s.best.Explained)
	}
}

// small returns a clip of a bright square of 3x3 pixels that moves over a noisy picture of 64x64.
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

// TestLowSNRSmallObject: in the moments of a large picture the noise hides a small object, unless the first layer removes the noise by a threshold.
func TestLowSNRSmallObject(t *testing.T) {
	suite.Long(t)
	clip := small(300)
	s := begun(t, clip, Config{Latent: 2, Seed: 1, Tau: TauOf(clip), Steps: 10, Restarts: 1})
	if !s.job.lowSNR() {
		t.Fatalf("the share of motion in the clip's energy is %.3f, too large for this test", s.job.moving)
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
		t.Errorf("the components' correlations add up to %.2f, and with a raised threshold to %.2f: expected 0.2 more (1.28 and 1.72 measured)", all, lifted)
	}
}

// TestInitialiseUnderLight: a still part of the film is slower than the motion, but must not become a latent.
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

// begun returns the first restart of a training, without initialisation.
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
