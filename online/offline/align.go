// Ground truths
//
// Map compares latents with a ground truth. A model's latents have arbitrary axes, signs and units, so they are mapped to the truth first:
//
//	Isometry   a rotation or reflection and a translation, if the truth has as many dimensions as the latents
//	Affine     any affine map, by least squares
//
// MeanSquares and R2 measure the remaining difference.

package offline

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Map is an affine map from latents to another frame of reference, for row vectors: y = z Linear + Offset.
type Map struct {
	Linear *mat.Dense // d × k
	Offset []float64  // k
}

// Isometry finds the rotation or reflection Q and the translation b that bring z (n rows of d) closest to truth (n rows of d):
// orthogonal Procrustes (Schönemann 1966), minimising Σ |z Q + b - truth|². There is no scale.
func Isometry(z, truth *mat.Dense) (*Map, error) {
	if err := sameRows(z, truth); err != nil {
		return nil, err
	}
	_, d := z.Dims()
	if _, k := truth.Dims(); k != d {
		return nil, fmt.Errorf("the latents have %d dimensions and the truth %d, expected equal numbers for an isometry: use an affine map", d, k)
	}
	zm, zc := centred(z)
	tm, tc := centred(truth)
	var cross mat.Dense
	cross.Mul(zc.T(), tc)
	var svd mat.SVD
	if !svd.Factorize(&cross, mat.SVDFull) {
		return nil, errors.New("the latents are not finite, so they cannot be aligned: check the recording")
	}
	var u, v, q mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	q.Mul(&u, v.T())
	return newMap(&q, zm, tm), nil
}

// Affine finds the least-squares affine map from z (n rows of d) to truth (n rows of k).
func Affine(z, truth *mat.Dense) (*Map, error) {
	if err := sameRows(z, truth); err != nil {
		return nil, err
	}
	zm, zc := centred(z)
	tm, tc := centred(truth)
	n, d := z.Dims()
	if n < d+2 {
		return nil, fmt.Errorf("an affine map of %d dimensions needs more than %d frames, found %d: give more frames", d, d+1, n)
	}
	var linear mat.Dense
	if err := linear.Solve(zc, tc); err != nil {
		return nil, fmt.Errorf("the affine map cannot be determined, because a latent does not move: %w", err)
	}
	return newMap(&linear, zm, tm), nil
}

// Apply maps n latents.
func (m *Map) Apply(z *mat.Dense) *mat.Dense {
	out := m.Turn(z)
	n, k := out.Dims()
	for i := range n {
		for j := range k {
			out.Set(i, j, out.At(i, j)+m.Offset[j])
		}
	}
	return out
}

// Turn maps n vectors without the offset, for example drifts.
func (m *Map) Turn(v *mat.Dense) *mat.Dense {
	var out mat.Dense
	out.Mul(v, m.Linear)
	return &out
}

// MeanSquares returns the mean over rows of (a - b)², one entry per column. The sum of the entries is the paper's L_latent or L_mu.
func MeanSquares(a, b *mat.Dense) []float64 {
	n, k := a.Dims()
	out := make([]float64, k)
	for i := range n {
		for j := range k {
			d := a.At(i, j) - b.At(i, j)
			out[j] += d * d / float64(n)
		}
	}
	return out
}

// R2 returns the coefficient of determination of each column of truth: 1 - Σ(truth - fit)²/Σ(truth - mean)².
func R2(fit, truth *mat.Dense) []float64 {
	n, k := truth.Dims()
	out := MeanSquares(fit, truth)
	for j := range k {
		out[j] = 1 - out[j]*float64(n)/(stat.Variance(mat.Col(nil, j, truth), nil)*float64(n-1))
	}
	return out
}

func newMap(linear *mat.Dense, from, to []float64) *Map {
	var moved mat.Dense
	moved.Mul(mat.NewDense(1, len(from), from), linear)
	m := &Map{Linear: linear, Offset: make([]float64, len(to))}
	for j := range to {
		m.Offset[j] = to[j] - moved.At(0, j)
	}
	return m
}

func sameRows(a, b *mat.Dense) error {
	n, _ := a.Dims()
	if k, _ := b.Dims(); n != k {
		return fmt.Errorf("found %d latents and %d rows of truth, expected equal numbers: give both for the same frames", n, k)
	}
	return nil
}

// centred returns the column means, and the matrix minus the column means.
func centred(m *mat.Dense) ([]float64, *mat.Dense) {
	n, k := m.Dims()
	mean, out := make([]float64, k), mat.NewDense(n, k, nil)
	for j := range k {
		mean[j] = stat.Mean(mat.Col(nil, j, m), nil)
		for i := range n {
			out.Set(i, j, m.At(i, j)-mean[j])
		}
	}
	return mean, out
}
