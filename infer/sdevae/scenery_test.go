package sdevae

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"driftscope/internal/suite"
)

// faded is n frames that a random walk back to 0 mixes of two smooth pictures, the second by its square, under noise of sd 1 around a grey of
// 0.5 that is scaled to fit; motion has a fiftieth of the noise's energy, or none.
func faded(n int, motion float64) (c *Clip, truth []float64) {
	const side, grey = 24, 0.05
	rng := rand.New(rand.NewPCG(3, 4))
	c = &Clip{Channels: 1, Height: side, Width: side}
	var z float64
	for k := range n {
		for p := range side * side {
			x, y := 2*math.Pi*float64(p%side)/side, 2*math.Pi*float64(p/side)/side
			v := motion * (z*math.Sin(x)*math.Cos(y) + 0.3*z*z*math.Cos(x+y))
			c.Pixels = append(c.Pixels, float32(0.5+grey*(v+rng.NormFloat64())))
		}
		c.Times, c.Trajectory, truth = append(c.Times, 0.1*float64(k)), append(c.Trajectory, 0), append(truth, z)
		z += -0.05*z + math.Sqrt(0.1)*rng.NormFloat64()
	}
	return c, truth
}

func hidden(t *testing.T, clip *Clip) *job {
	t.Helper()
	j := &job{clip: clip, moves: 1 - clip.Noise()/clip.Energy(), still: average(clip.Pixels, clip.Len(), clip.Size())}
	j.train, j.held = split(clip.Pairs(clip.MaxGap()))
	if !j.drowned() {
		t.Fatalf("%.3f of the clip's energy moves", j.moves)
	}
	return j
}

// TestScenery: what hides in noise of fifty times its energy is found to a correlation of 0.94, where a frame's product with the very picture
// that it mixes has 0.96; of bare noise nothing is found.
func TestScenery(t *testing.T) {
	suite.Long(t)
	clip, truth := faded(600, 0.25)
	found := hidden(t, clip).traceScenery(t.Context(), 1, 1)
	if found == nil {
		t.Fatal("nothing found")
	}
	if r := math.Abs(stat.Correlation(wide(found.z), truth, nil)); r < 0.94 || found.explained < 0.8 {
		t.Errorf("correlation %.3f, %.2f explained", r, found.explained)
	}
	noise, _ := faded(600, 0)
	if found := hidden(t, noise).traceScenery(t.Context(), 1, 1); found != nil {
		t.Errorf("%.2f of bare noise explained", found.explained)
	}
}

// TestSceneryFollowed: after a training of seconds single frames are read nearly as well as their noise allows, a correlation of 0.96.
func TestSceneryFollowed(t *testing.T) {
	suite.Long(t)
	clip, truth := faded(600, 0.25)
	r := train(t, Training{}, clip, Config{Latent: 1, Seed: 1, Tau: TauOf(clip), Steps: 10, Pairs: 16, Follow: 200})
	p, err := r.Model.Encode(clip.Pixels, nil, clip.Len())
	if err != nil {
		t.Fatal(err)
	}
	if c := math.Abs(stat.Correlation(wide(p.Mean), truth, nil)); c < 0.92 {
		t.Errorf("correlation %.3f", c)
	}
}

// TestCalm: a random walk under noise is smoothed to a third of the noise or less, and one without is left as it is.
func TestCalm(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	g := &gaze{clip: &Clip{Trajectory: make([]uint64, n)}}
	walk, seen := make([]float32, n), make([]float32, n)
	for k := range n {
		if k == n/2 {
			g.clip.Trajectory[k] = 1
		}
		if k > 0 {
			g.clip.Trajectory[k] = max(g.clip.Trajectory[k], g.clip.Trajectory[k-1])
			walk[k] = walk[k-1] + float32(0.3*rng.NormFloat64())
		}
		seen[k] = walk[k] + float32(rng.NormFloat64())
	}
	// Of noise r = 1 and steps q = 0.09 the smoother of a stationary walk leaves √(rq)/2 = 0.15.
	if left := squaredError(narrow(g.calm(general(n, 1, seen))), walk) / n; left > 0.2 {
		t.Errorf("%.3f of the noise is left", left)
	}
	if left := squaredError(narrow(g.calm(general(n, 1, walk))), walk) / n; left > 1e-3 {
		t.Errorf("a walk without noise is %.4f off", left)
	}
}

// TestDenoise: a smooth picture loses nine tenths of its noise, and noise alone is all but gone.
func TestDenoise(t *testing.T) {
	suite.Long(t)
	const side, sd = 32, 0.3
	rng := rand.New(rand.NewPCG(1, 2))
	clean, noisy, bare := make([]float32, side*side), make([]float32, side*side), make([]float32, side*side)
	for i := range clean {
		clean[i] = float32(math.Sin(2*math.Pi*float64(i%side)/side) * math.Cos(4*math.Pi*float64(i/side)/side))
		noisy[i], bare[i] = clean[i]+float32(sd*rng.NormFloat64()), float32(sd*rng.NormFloat64())
	}
	p := newPlane(side, side)
	p.denoise(noisy, sd*sd)
	p.denoise(bare, sd*sd)
	if left := squaredError(noisy, clean) / (side * side); left > 0.1*sd*sd {
		t.Errorf("%.3f of the noise is left in a picture", left/(sd*sd))
	}
	if left := squaredError(bare, make([]float32, side*side)) / (side * side); left > 0.1*sd*sd {
		t.Errorf("%.3f of bare noise is left", left/(sd*sd))
	}
}

// TestNoises: what is left of two frames has one frame's noise, wherever it is moved.
func TestNoises(t *testing.T) {
	clip, _ := faded(200, 0)
	noise := clip.noises(clip.Pairs(clip.MaxGap()))
	size := clip.Size()
	if got, want := squaredError(noise, []float32{0})/float64(len(noise)/size), clip.Energy(); math.Abs(got/want-1) > 0.05 { // of 10⁵ pixels
		t.Errorf("energy %.4f, expected %.4f", got, want)
	}
	moved := make([]float32, size)
	clip.roll(moved, noise[:size], 5, 23)
	if moved[0] != noise[23*clip.Width+5] || moved[size-1] != noise[22*clip.Width+4] {
		t.Error("not moved by 5 and 23")
	}
}
