package numeric

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/kit/numbers"
)

// A ridge damps directions of little variance. Cross-validation chooses it: the pairs are divided into slowFolds parts, and each part tests the components of
// the other parts.
const slowFolds = 5

var slowRidges = []float64{0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1}

// SlowComponents returns the d slowest components of x's columns (n × width → width × d), with variance 1 and the ridge that gives the best held-out
// correlation. lasts is this correlation over one frame, summed over the components.
func SlowComponents(x *mat.Dense, pairs [][2]int, d int) (w *mat.Dense, lasts float64, err error) {
	found := make([]float64, len(slowRidges))
	for fold := range slowFolds {
		from, to := fold*len(pairs)/slowFolds, (fold+1)*len(pairs)/slowFolds
		others, err := newLagged(x, slices.Concat(pairs[:from], pairs[to:])).principal()
		if err != nil {
			return nil, 0, err
		}
		part := newLagged(x, pairs[from:to])
		for k, ridge := range slowRidges {
			w, err := others.slowest(ridge, d)
			if err != nil {
				return nil, 0, err
			}
			found[k] += part.correlation(w)
		}
	}
	all, err := newLagged(x, pairs).principal()
	if err != nil {
		return nil, 0, err
	}
	best := floats.MaxIdx(found)
	w, err = all.slowest(slowRidges[best], d)
	return w, found[best] / slowFolds, err
}

// lagged holds the covariance of the columns (now) and their symmetrised covariance at a lag of one frame (next), over some pairs.
type lagged struct{ now, next *mat.SymDense }

func newLagged(x *mat.Dense, pairs [][2]int) *lagged {
	_, width := x.Dims()
	first, second := mat.NewDense(len(pairs), width, nil), mat.NewDense(len(pairs), width, nil)
	for k, p := range pairs {
		first.SetRow(k, x.RawRowView(p[0]))
		second.SetRow(k, x.RawRowView(p[1]))
	}
	var a, b, c mat.Dense
	a.Mul(first.T(), first)
	b.Mul(second.T(), second)
	c.Mul(first.T(), second)
	l := &lagged{mat.NewSymDense(width, nil), mat.NewSymDense(width, nil)}
	n := 2 * float64(len(pairs))
	for i := range width {
		for j := i; j < width; j++ {
			l.now.SetSym(i, j, (a.At(i, j)+b.At(i, j))/n)
			l.next.SetSym(i, j, (c.At(i, j)+c.At(j, i))/n)
		}
	}
	return l
}

// principal holds the principal components. All ridges share these, because computing them takes most of the time.
type principal struct {
	covariances *lagged
	variances   []float64 // ascending
	vectors     *mat.Dense
}

func (l *lagged) principal() (*principal, error) {
	vectors, variances, err := numbers.Principal(l.now)
	if err != nil {
		return nil, errors.New("the initial features have no principal components, because they are not finite")
	}
	return &principal{covariances: l, variances: variances, vectors: vectors}, nil
}

// slowest returns the d slowest components, width × d. The ridge is a share of the largest variance.
func (l *principal) slowest(ridge float64, d int) (*mat.Dense, error) {
	width := len(l.variances)
	white := mat.DenseCopyOf(l.vectors)
	for j, v := range l.variances {
		ScaleColumn(white, j, 1/math.Sqrt(max(v, 0)+ridge*l.variances[width-1]))
	}
	var half, whole mat.Dense
	half.Mul(l.covariances.next, white)
	whole.Mul(white.T(), &half)
	slow := mat.NewSymDense(width, nil)
	for i := range width {
		for j := i; j < width; j++ {
			slow.SetSym(i, j, whole.At(i, j))
		}
	}
	turned, _, err := numbers.Principal(slow)
	if err != nil {
		return nil, errors.New("the initial features have no slow components, because they are not finite")
	}
	var w mat.Dense
	top := mat.NewDense(width, d, nil)
	for k := range d {
		top.SetCol(k, mat.Col(nil, max(width-1-k, 0), turned))
	}
	w.Mul(white, top)
	for k := range d {
		ScaleColumn(&w, k, 1/math.Sqrt(mat.Inner(w.ColView(k), l.covariances.now, w.ColView(k))))
	}
	return &w, nil
}

// correlation returns tr((W'C₀W)⁻¹ W'C₁W), the sum of the components' correlations over one frame.
func (l *lagged) correlation(w *mat.Dense) float64 {
	var now, next, ratio mat.Dense
	now.Product(w.T(), l.now, w)
	next.Product(w.T(), l.next, w)
	if ratio.Solve(&now, &next) != nil {
		return math.Inf(-1)
	}
	return mat.Trace(&ratio)
}
