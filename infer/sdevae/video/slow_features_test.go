package video

import (
	"math/rand/v2"
	"testing"

	"driftscope/infer/sdevae/numeric"
)

// TestSmooth: smoothing a random walk reduces its noise to a fifth or less, and does not change a walk without noise.
func TestSmooth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 2000
	g := &SlowFeatures{Clip: &Clip{Trajectory: make([]uint64, n)}}
	walk, seen := make([]float32, n), make([]float32, n)
	for k := range n {
		if k == n/2 {
			g.Clip.Trajectory[k] = 1
		}
		if k > 0 {
			g.Clip.Trajectory[k] = max(g.Clip.Trajectory[k], g.Clip.Trajectory[k-1])
			walk[k] = walk[k-1] + float32(0.3*rng.NormFloat64())
		}
		seen[k] = walk[k] + float32(rng.NormFloat64())
	}
	// For noise r = 1 and steps q = 0.09, the smoother of a stationary walk leaves √(rq)/2 = 0.15.
	if left := numeric.SquaredError(numeric.Float32s(g.Smooth(numeric.Matrix(n, 1, seen))), walk) / n; left > 0.2 {
		t.Errorf("%.3f of the noise is left", left)
	}
	if left := numeric.SquaredError(numeric.Float32s(g.Smooth(numeric.Matrix(n, 1, walk))), walk) / n; left > 1e-3 {
		t.Errorf("a walk without noise is %.4f off", left)
	}
}
