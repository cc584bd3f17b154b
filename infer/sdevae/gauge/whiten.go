package gauge

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/video"
	"driftscope/internal/kit/numbers"
)

const smallNoise float64 = 0.02 // tuned gauge.smallNoise: r = R/(v Δt) below which the quadratic variation is as good as the covariance-based estimate, and safer

// floor is the smallest eigenvalue for whitening, as a share of the largest eigenvalue. Smaller eigenvalues are raised to it, so an axis without motion is not
// amplified.
const floor = 1e-3

// Whiten computes the affine map from the latents m (n × d) of a clip's frames and the clip's pairs, with
//
//	C = (1/nΔt) Σ [D D' + D D₊' + D₊ D']      D an increment, D₊ the next one
//
// which estimates σσ' without the localisation noise R. If R is small, C = (1/nΔt) Σ D D' instead.
func Whiten(m []float32, d int, pairs []video.Pair) (*Map, error) {
	quadratic, lagged := Increments(m, d, pairs)
	c := mat.NewSymDense(d, nil)
	noisy := noise(quadratic, lagged) > smallNoise
	for i := range d {
		for j := i; j < d; j++ {
			v := quadratic.At(i, j)
			if noisy {
				v += lagged.At(i, j) + lagged.At(j, i)
			}
			c.SetSym(i, j, v)
		}
	}
	ref := &Map{Mean: ColumnMeans(m, d)}
	var err error
	ref.To, ref.Back, err = inverseRoot(c)
	return ref, err
}

// noise returns r = R/(v Δt) of the noisiest axis, or infinity if an axis has no motion beyond its noise.
func noise(quadratic, lagged *mat.Dense) float64 {
	worst := 0.0
	for i := range quadratic.RawMatrix().Rows {
		r := -lagged.At(i, i) / (quadratic.At(i, i) + 2*lagged.At(i, i))
		if r < -0.5 {
			return math.Inf(1)
		}
		if r > worst {
			worst = r
		}
	}
	return worst
}

// Increments returns (1/n) Σ D D'/Δt and (1/n) Σ D D₊'/Δt.
func Increments(m []float32, d int, pairs []video.Pair) (quadratic, lagged *mat.Dense) {
	quadratic, lagged = mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	step := func(dst *mat.VecDense, p video.Pair) {
		for i := range d {
			dst.SetVec(i, float64(m[(p.First+1)*d+i])-float64(m[p.First*d+i]))
		}
	}
	now, next := mat.NewVecDense(d, nil), mat.NewVecDense(d, nil)
	triples := 0
	for k, p := range pairs {
		step(now, p)
		quadratic.RankOne(quadratic, 1/(p.DT*float64(len(pairs))), now, now)
		if k+1 < len(pairs) && pairs[k+1].First == p.First+1 {
			step(next, pairs[k+1])
			lagged.RankOne(lagged, 2/(p.DT+pairs[k+1].DT), now, next)
			triples++
		}
	}
	if triples > 0 {
		lagged.Scale(1/float64(triples), lagged)
	}
	return quadratic, lagged
}

// inverseRoot returns C^(-½) and C^½ of a symmetric matrix. Eigenvalues below floor times the largest are raised to that value.
func inverseRoot(c *mat.SymDense) (to, back *mat.Dense, err error) {
	vectors, values, err := numbers.Principal(c)
	if err != nil {
		return nil, nil, errors.New("the covariance of the increments has no eigenvalues, because the latents are not finite")
	}
	d := len(values)
	largest := values[d-1]
	if !(largest > 0) {
		return nil, nil, errors.New("the latents do not move: their increments have no variance beyond noise")
	}
	power := func(p func(float64) float64) *mat.Dense {
		diag := mat.NewDiagDense(d, nil)
		for i, v := range values {
			diag.SetDiag(i, p(max(v, floor*largest)))
		}
		var out mat.Dense
		out.Product(vectors, diag, vectors.T())
		return &out
	}
	return power(func(v float64) float64 { return 1 / math.Sqrt(v) }), power(math.Sqrt), nil
}

// ColumnMeans returns the means of the columns of m, n × d.
func ColumnMeans(m []float32, d int) []float64 {
	n := len(m) / d
	mean := make([]float64, d)
	for i, v := range m {
		mean[i%d] += float64(v) / float64(n)
	}
	return mean
}
