// Slow features
//
// SlowFeatures finds latents of a picture that changes as a whole, even if noise hides the change in every single frame.
//
//	slow_features.go  SlowFeatures: directions along which a frame resembles its neighbours (Wiskott and Sejnowski 2002), by power iteration on
//	                  lagged covariances, and a random walk's smoother of the scores along them
//	low_rank.go       LowRank: frame ≈ Σₖ φₖ(z) pictureₖ over monomials φ of the latents z, its pictures Wiener-filtered
//
// The two run in turn: directions give latents, latents give pictures, and the linear part of the pictures gives better directions.

package video

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/numeric"
)

// SlowFeatures finds slow directions of a clip about its mean picture.
type SlowFeatures struct {
	Clip *Clip
	Mean []float32
}

const (
	slowRounds  = 3  // rounds of estimating the autocovariance,
	slowPowers  = 15 // each with this number of steps of the power iteration
	firstMemory = 10 // initial autocovariance: constant over this number of frames
	maxLags     = 50 // largest lag of the autocovariance, frames
	noiseLags   = 8  // frames over which noise is separated from motion
)

// Directions returns d orthonormal pictures (d × CHW) along which frames are most similar to the frames before and after them, weighted by the autocovariance.
// Noise does not matter, because it is independent between frames. The power iteration is
//
//	w ← Σ over frames k ≠ l of one trajectory of lags(|k - l|) s(k) (x(l) - mean)
func (g *SlowFeatures) Directions(ctx context.Context, d int, rng *rand.Rand) blas32.General {
	size := g.Clip.Size()
	w := numeric.Matrix(d, size, make([]float32, d*size))
	for i := range w.Data {
		w.Data[i] = float32(rng.NormFloat64())
	}
	lags := slices.Repeat([]float64{1}, firstMemory)
	for range slowRounds {
		for range numeric.Rounds(ctx, slowPowers) {
			numeric.OrthonormalRows(w)
			s := g.weightedSum(g.Scores(w), lags)
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, s, numeric.Matrix(g.Clip.Len(), size, g.Clip.Pixels), 0, w)
			for i := range d {
				var sum float32
				for k := range g.Clip.Len() {
					sum += s.Data[k*d+i]
				}
				blas32.Axpy(-sum, numeric.Vector(g.Mean), numeric.Vector(w.Data[i*size:(i+1)*size]))
			}
		}
		numeric.OrthonormalRows(w)
		lags = g.autocovariance(g.Scores(w))
	}
	return w
}

// Scores returns the products of frames with directions, frames × directions.
func (g *SlowFeatures) Scores(w blas32.General) blas32.General {
	n, d := g.Clip.Len(), w.Rows
	s := numeric.Matrix(n, d, make([]float32, n*d))
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, numeric.Matrix(n, w.Cols, g.Clip.Pixels), w, 0, s)
	for i := range d {
		still := blas32.Dot(numeric.Vector(g.Mean), numeric.Vector(w.Data[i*w.Cols:(i+1)*w.Cols]))
		for k := range n {
			s.Data[k*d+i] -= still
		}
	}
	return s
}

// weightedSum sums the scores of the frames around each frame. lags[l-1] is the weight of frames at a distance of l.
func (g *SlowFeatures) weightedSum(s blas32.General, lags []float64) blas32.General {
	n, d := s.Rows, s.Cols
	sum := numeric.Matrix(n, d, make([]float32, n*d))
	for l, weight := range lags {
		for k := range n - min(l+1, n) {
			if other := k + l + 1; g.Clip.Trajectory[k] == g.Clip.Trajectory[other] {
				blas32.Axpy(float32(weight), numeric.Vector(s.Data[other*d:(other+1)*d]), numeric.Vector(sum.Data[k*d:(k+1)*d]))
				blas32.Axpy(float32(weight), numeric.Vector(s.Data[k*d:(k+1)*d]), numeric.Vector(sum.Data[other*d:(other+1)*d]))
			}
		}
	}
	return sum
}

// autocovariance returns the autocovariance of the scores at lags of 1, 2, … frames, relative to lag 1, up to the last positive value.
func (g *SlowFeatures) autocovariance(s blas32.General) (lags []float64) {
	d := s.Cols
	for l := range maxLags {
		var sum, count float64
		for k := range s.Rows - min(l+1, s.Rows) {
			if other := k + l + 1; g.Clip.Trajectory[k] == g.Clip.Trajectory[other] {
				sum, count = sum+float64(blas32.Dot(numeric.Vector(s.Data[k*d:(k+1)*d]), numeric.Vector(s.Data[other*d:(other+1)*d]))), count+1
			}
		}
		if !(sum > 0) {
			break
		}
		lags = append(lags, sum/count)
	}
	for l := len(lags) - 1; l >= 0; l-- {
		lags[l] /= lags[0]
	}
	return lags
}

// Smooth removes the noise of scores (frames × directions). Increments over 1 to noiseLags frames separate it from motion,
//
//	E (s(k+l) - s(k))² = 2 noise + l step
//
// and the smoother for a random walk with white noise gives a frame at distance l the weight ρˡ, where ρ/(1-ρ)² = noise/step.
func (g *SlowFeatures) Smooth(s blas32.General) []float64 {
	z := make([]float64, len(s.Data))
	for i := range s.Cols {
		axis := numeric.Column(s.Data, i, s.Cols)
		for k, v := range g.smoothBy(axis, g.smootherGain(axis)) {
			z[k*s.Cols+i] = v
		}
	}
	return z
}

// smootherGain returns the ρ of an axis, or 0 if it has no noise.
func (g *SlowFeatures) smootherGain(axis []float64) float64 {
	var over, moved []float64
	for l := 1; l <= noiseLags; l++ {
		var sum, count float64
		for k := range len(axis) - min(l, len(axis)) {
			if g.Clip.Trajectory[k] == g.Clip.Trajectory[k+l] {
				sum, count = sum+math.Pow(axis[k+l]-axis[k], 2), count+1
			}
		}
		if count > 0 {
			over, moved = append(over, float64(l)), append(moved, sum/count)
		}
	}
	noise, step := stat.LinearRegression(over, moved, nil, false)
	ratio := max(noise/2, 0) / max(step, 1e-3*noise)
	if !(ratio > 0) {
		return 0
	}
	return (2*ratio + 1 - math.Sqrt(4*ratio+1)) / (2 * ratio)
}

// smoothBy returns weighted means over each trajectory. The weight of a frame is ρ to the power of its distance.
func (g *SlowFeatures) smoothBy(axis []float64, rho float64) []float64 {
	sum, weight := make([]float64, len(axis)), make([]float64, len(axis))
	pass := func(k, before int, s, w *float64) {
		if before < 0 || before >= len(axis) || g.Clip.Trajectory[before] != g.Clip.Trajectory[k] {
			*s, *w = 0, 0
		}
		*s, *w = rho**s, rho**w // of the previous directions
		sum[k], weight[k] = sum[k]+*s, weight[k]+*w
		*s, *w = *s+axis[k], *w+1
	}
	var s, w float64
	for k := range axis {
		pass(k, k-1, &s, &w)
	}
	s, w = 0, 0
	for k := len(axis) - 1; k >= 0; k-- {
		pass(k, k+1, &s, &w)
	}
	for k, v := range axis {
		sum[k] = (sum[k] + v) / (weight[k] + 1)
	}
	return sum
}
