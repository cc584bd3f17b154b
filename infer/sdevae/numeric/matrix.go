package numeric

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"driftscope/internal/kit/numbers"
)

// Vector wraps x for BLAS without a copy.
func Vector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Data: x, Inc: 1} }

// Matrix wraps data, row by row, for BLAS without a copy.
func Matrix(rows, columns int, data []float32) blas32.General {
	return blas32.General{Rows: rows, Cols: columns, Stride: columns, Data: data}
}

// Column returns column i of a matrix with d columns.
func Column(m []float32, i, d int) []float64 {
	out := make([]float64, 0, len(m)/d)
	for k := i; k < len(m); k += d {
		out = append(out, float64(m[k]))
	}
	return out
}

// Spread returns at most n elements of all, evenly spaced.
func Spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	out := make([]T, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
	}
	return out
}

// MeanRow returns the mean of n rows.
func MeanRow(x []float32, n, size int) []float32 {
	sum := make([]float64, size)
	for i, v := range x {
		sum[i%size] += float64(v)
	}
	mean := make([]float32, size)
	for i, v := range sum {
		mean[i] = float32(v / float64(n))
	}
	return mean
}

// SquaredError returns Σ (x - y)². If y is shorter, it is repeated.
func SquaredError(x, y []float32) float64 {
	var sum float64
	for i, v := range x {
		d := float64(v - y[i%len(y)])
		sum += d * d
	}
	return sum
}

// Affine computes dst = x W + b for every row, with x n × in, W in × out and b of length out. The length of dst, n × out, determines the number of rows.
func Affine(dst, x, w, b []float32) {
	out := len(b)
	n, in := len(dst)/out, len(w)/out
	for i := range n {
		copy(dst[i*out:(i+1)*out], b)
	}
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, Matrix(n, in, x), Matrix(in, out, w), 1, Matrix(n, out, dst))
}

// ScaleColumn multiplies column j by k, in place.
func ScaleColumn(m *mat.Dense, j int, k float64) {
	rows, _ := m.Dims()
	for i := range rows {
		m.Set(i, j, k*m.At(i, j))
	}
}

// Centre subtracts the columns' means from x, in place, and returns them.
func Centre(x *mat.Dense) *mat.VecDense {
	n, width := x.Dims()
	mean := mat.NewVecDense(width, nil)
	for i := range n {
		mean.AddScaledVec(mean, 1/float64(n), x.RowView(i))
	}
	for i := range n {
		row := x.RowView(i).(*mat.VecDense)
		row.SubVec(row, mean)
	}
	return mean
}

// Sum returns the sum of x, in float64.
func Sum(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}

// OrthonormalRows makes the rows orthonormal in place, one after another (Gram and Schmidt).
func OrthonormalRows(w blas32.General) {
	for i := range w.Rows {
		row := Vector(w.Data[i*w.Cols : (i+1)*w.Cols])
		for k := range i {
			before := Vector(w.Data[k*w.Cols : (k+1)*w.Cols])
			blas32.Axpy(-blas32.Dot(row, before), before, row)
		}
		blas32.Scal(1/blas32.Nrm2(row), row)
	}
}

// NormalSD estimates the standard deviation of normal noise from the median of absolute values, whose noise is larger by factor. A lost frame or a jump does
// not change the median. NormalSD sorts sizes.
func NormalSD(sizes []float64, factor float64) float64 {
	const mad = 0.6745 // a normal's median absolute deviation, in standard deviations
	slices.Sort(sizes)
	return sizes[len(sizes)/2] / (mad * factor)
}

// PrincipalRows returns the eigenvectors of x x' as columns, with their eigenvalues in ascending order. If the rows of x are centred, x' times the last
// eigenvectors are their principal components. ok is false if x is not finite.
func PrincipalRows(x *mat.Dense) (values []float64, vectors *mat.Dense, ok bool) {
	var gram mat.SymDense
	gram.SymOuterK(1, x)
	vectors, values, err := numbers.Principal(&gram)
	return values, vectors, err == nil
}
