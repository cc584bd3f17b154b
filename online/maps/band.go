package maps

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// band is a symmetric n×n matrix whose nonzero entries are at most width columns off the diagonal. Entry (i, i-k) is at i·(width+1) + k.
type band struct {
	n, width int
	at       []float64
}

func newBand(n, width int) *band { return &band{n, width, make([]float64, n*(width+1))} }

// row returns row i from the diagonal to the left, lent.
func (b *band) row(i int) []float64 { return b.at[i*(b.width+1) : (i+1)*(b.width+1)] }

// add adds v to (i, j) and (j, i).
func (b *band) add(i, j int, v float64) {
	if i >= j {
		b.at[i*(b.width+1)+i-j] += v
	}
}

// times writes the product with x into dst.
func (b *band) times(dst, x []float64) {
	clear(dst)
	for i := range b.n {
		row := b.row(i)
		dst[i] += row[0] * x[i]
		for k := 1; k <= min(b.width, i); k++ {
			dst[i] += row[k] * x[i-k]
			dst[i-k] += row[k] * x[i]
		}
	}
}

// factor overwrites b with the unit triangle L and the diagonal d of b = L diag(d) L', Golub and Van Loan, Matrix Computations, 4.3.5. It returns ln det
// b, and false if b is not positive definite.
func (b *band) factor() (logDet float64, ok bool) {
	scaled := make([]float64, b.width+1)
	for i := range b.n {
		row, reach := b.row(i), min(b.width, i)
		// row i of L diag(d), from its left end: each entry minus the contribution of the columns to its left
		for k := reach; k >= 1; k-- {
			done := scaled[k+1 : reach+1]
			scaled[k] = row[k] - product(done, b.row(i - k)[1:len(done)+1])
		}
		for k := 1; k <= reach; k++ {
			row[k] = scaled[k] / b.row(i - k)[0]
			row[0] -= row[k] * scaled[k]
		}
		if !(row[0] > 0) {
			return 0, false
		}
		logDet += math.Log(row[0])
	}
	return logDet, true
}

// solve overwrites x with the solution of the factored matrix.
func (b *band) solve(x []float64) {
	for i := range b.n {
		reach := min(b.width, i)
		before, row := x[i-reach:i], b.row(i)[1:reach+1]
		var even, odd float64 // two sums, which the processor adds in parallel
		for k := 0; k+1 < reach; k += 2 {
			even, odd = even+row[k]*before[reach-1-k], odd+row[k+1]*before[reach-2-k]
		}
		if reach%2 == 1 {
			even += row[reach-1] * before[0]
		}
		x[i] -= even + odd
	}
	for i := range b.n {
		x[i] /= b.row(i)[0]
	}
	for i := b.n - 1; i >= 0; i-- {
		reach, known := min(b.width, i), x[i]
		before := x[i-reach : i]
		for k, v := range b.row(i)[1 : reach+1] {
			before[reach-1-k] -= v * known
		}
	}
}

// solved returns the solution for x. It keeps x.
func (b *band) solved(x []float64) []float64 {
	y := slices.Clone(x)
	b.solve(y)
	return y
}

// inverse overwrites b with the inverse of the factored matrix within the band (Takahashi, Fagan and Chen, 1973): Z = D⁻¹L⁻¹ + (I - L')Z, from the last
// column on. It works on both triangles, with (i, i+k) at width+k and (i, i-k) at width-k of a row, so every sum runs along one row. full is working memory
// for both triangles; inverse returns it for the next call.
func (b *band) inverse(full []float64) []float64 {
	if full == nil {
		full = make([]float64, b.n*(2*b.width+1))
	}
	row := func(i int) []float64 { return full[i*(2*b.width+1) : (i+1)*(2*b.width+1)] }
	column := make([]float64, b.width+1)
	for i := b.n - 1; i >= 0; i-- {
		reach := min(b.width, b.n-1-i)
		for k := 1; k <= reach; k++ {
			column[k] = b.row(i + k)[k] // L(i+k, i)
		}
		diagonal := 1 / b.row(i)[0]
		for k := 1; k <= reach; k++ { // Z(i+k, i) = -Σ L(i+m, i) Z(i+k, i+m)
			z := -product(column[1:reach+1], row(i + k)[b.width+1-k:])
			row(i + k)[b.width-k], row(i)[b.width+k] = z, z
			diagonal -= column[k] * z
		}
		row(i)[b.width] = diagonal
	}
	for i := range b.n {
		for k := range min(b.width, i) + 1 {
			b.row(i)[k] = row(i)[b.width-k]
		}
	}
	return full
}

// near holds the entries of a symmetric matrix between each corner and its neighbours, at most two columns and two rows away. A row of the grid has nx
// corners. The difference of two corner numbers gives the position of an entry.
type near []float64

const places = 15 // entries per corner: five for each of three rows; only narrow grids use the last two

func placeOf(nx, distance int) (place int, ok bool) {
	rows := (distance + 2) / nx
	columns := distance - rows*nx
	place = 5*rows + columns
	return place, columns <= 2 && place < places
}

// near copies the entries near the diagonal.
func (b *band) near(nx int) near {
	out := make(near, b.n*places)
	for i := range b.n {
		for k, v := range b.row(i)[:min(2*nx+2, i, b.width)+1] {
			if at, ok := placeOf(nx, k); ok {
				out[i*places+at] = v
			}
		}
	}
	return out
}

// entry returns (i, j).
func (n near) entry(nx, i, j int) float64 {
	at, _ := placeOf(nx, max(i, j)-min(i, j))
	return n[max(i, j)*places+at]
}

// product returns Σ xy over the length of x.
func product(x, y []float64) float64 { return floats.Dot(x, y[:len(x)]) }
