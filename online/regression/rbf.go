package regression

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/kit/numbers"
)

// Radial basis functions are squared exponentials about points that the latents visit, (9). Beyond four dimensions a recording visits too little of the space
// for them.
const (
	maxRBFDim    = 4
	mostCentres  = 60    // largest number of points, for any dimension
	rbfRank      = 1e-6  // eigenvalues of the points' kernel below this fraction of the largest are dropped
	centresApart = 1e-3  // least squared distance between two points, in units of the smallest length scale squared
	singular     = 1e-10 // fraction of the observed time, added so that the matrix is not singular
)

// rbfCounts lists the largest number of points for 0 to maxRBFDim dimensions.
var rbfCounts = [maxRBFDim + 1]int{0, 20, 40, 50, mostCentres}

// rbfLengths returns the length scales ℓ, in units of ρ.
func rbfLengths(d int) []float64 {
	unit := math.Pow(float64(d), 0.25)
	switch {
	case d <= 2:
		return []float64{0.5 * unit, unit, 2 * unit}
	case d <= maxRBFDim:
		return []float64{0.7 * unit, 1.4 * unit}
	}
	return nil
}

// rbf holds the fields f_r(u) e_i of one length scale ℓ. The scalars f = T'k(u) - P'[1,u] are uncoupled from [1,u] and, over the transitions, from each
// other: their G is diag(λ). A priori f'f is the kernel exp(-|u-u'|²/2ℓ²) minus its affine part.
type rbf struct {
	d      int
	length float64
	points *mat.Dense // M×d, in units of u
	mix    mat.Dense  // T, M×rank
	affine mat.Dense  // P, (1+d)×rank
	lambda []float64  // rank
	b      mat.Dense  // rank×d
	g      mat.Dense  // G with the radial field, rank×d
}

// allRBFs returns the functions of every length scale, or none above maxRBFDim dimensions.
func allRBFs(s *Steps, b *basis, m *moments) ([]*rbf, error) {
	lengths := rbfLengths(s.dim)
	if len(lengths) == 0 {
		return nil, nil
	}
	u := make([]float64, len(s.x))
	for k := range s.Len() {
		b.scaled(u[k*s.dim:(k+1)*s.dim], s.x[k*s.dim:(k+1)*s.dim])
	}
	points := rbfPoints(u, s.dim, centresApart*lengths[0]*lengths[0])
	var all []*rbf
	for _, length := range lengths {
		f := &rbf{d: s.dim, length: length, points: mat.NewDense(len(points)/s.dim, s.dim, points)}
		sums := f.gather(s, b)
		if err := sums.project(m); err != nil {
			return nil, err
		}
		if err := f.orthogonalise(sums); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// rbfPoints picks up to M of the points u (n×d): the point nearest to the centre, then repeatedly the point farthest from all points picked so far.
func rbfPoints(u []float64, d int, apart float64) []float64 {
	origin, nearest := make([]float64, d), make([]float64, len(u)/d)
	for k := range nearest {
		nearest[k] = -squareDistance(u[k*d:(k+1)*d], origin)
	}
	points := append([]float64(nil), u[floats.MaxIdx(nearest)*d:][:d]...)
	for k := range nearest {
		nearest[k] = squareDistance(u[k*d:(k+1)*d], points)
	}
	for len(points) < rbfCounts[d]*d {
		next := floats.MaxIdx(nearest)
		if nearest[next] < apart {
			break
		}
		point := u[next*d : (next+1)*d]
		points = append(points, point...)
		for k := range nearest {
			nearest[k] = min(nearest[k], squareDistance(u[k*d:(k+1)*d], point))
		}
	}
	return points
}

// kernel writes exp(-|u - p|²/2ℓ²) for every point p into dst.
func (f *rbf) kernel(dst, u []float64) {
	for m := range dst {
		dst[m] = math.Exp(-squareDistance(u, f.points.RawRowView(m)) / (2 * f.length * f.length))
	}
}

// whiten returns the combinations of k(u), M×rank, whose squares add up to the kernel.
func (f *rbf) whiten() (*mat.Dense, error) {
	size := f.points.RawMatrix().Rows
	between := mat.NewSymDense(size, nil)
	for m := range size {
		f.kernel(between.RawSymmetric().Data[m*size:(m+1)*size], f.points.RawRowView(m))
	}
	vectors, values, err := principal(between)
	if err != nil {
		return nil, err
	}
	first := 0
	for values[first] <= rbfRank*values[size-1] {
		first++
	}
	white := mat.DenseCopyOf(vectors.Slice(0, size, first, size))
	white.Apply(func(_, j int, v float64) float64 { return v / math.Sqrt(values[first+j]) }, white)
	return white, nil
}

// orthogonalise rotates the whitened features to the axes of their G.
func (f *rbf) orthogonalise(s *rbfSums) error {
	white, err := f.whiten()
	if err != nil {
		return err
	}
	var vectors *mat.Dense
	if vectors, f.lambda, err = principal(numbers.Symmetric(numbers.Congruent(s.gram, white))); err != nil {
		return err
	}
	for i, v := range f.lambda {
		f.lambda[i] = max(0, v)
	}
	f.mix.Mul(white, vectors)
	f.affine.Mul(s.affine, &f.mix)
	f.b.Mul(f.mix.T(), s.b)
	f.g.Mul(f.mix.T(), s.radial)
	return nil
}
