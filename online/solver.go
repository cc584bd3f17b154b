package online

import (
	"math"
	"slices"
)

// solver inverts small matrices in reused memory.
type solver struct {
	n          int
	m, inverse []float64 // n × n; inverting overwrites m
	rows       []float64 // working memory, axes × n
}

func newSolver(most int) solver {
	return solver{m: make([]float64, most*most), inverse: make([]float64, most*most), rows: make([]float64, axes*most)}
}

// resize makes room for an n × n matrix with unspecified entries.
func (s *solver) resize(n int) {
	s.n, s.m, s.inverse = n, s.m[:n*n], s.inverse[:n*n]
}

// leastPivot is the smallest usable pivot, as a fraction of the matrix's largest entry.
const leastPivot = 1e-10

// invert runs Gauss-Jordan elimination with partial pivoting. It returns false for a matrix that is singular or not finite.
func (s *solver) invert() bool {
	n, largest := s.n, 0.0
	clear(s.inverse)
	for i := range n {
		s.inverse[i*n+i] = 1
	}
	for _, v := range s.m {
		largest = max(largest, math.Abs(v))
	}
	for at := range n {
		pivot := at
		for i := at + 1; i < n; i++ {
			if math.Abs(s.m[i*n+at]) > math.Abs(s.m[pivot*n+at]) {
				pivot = i
			}
		}
		scale := s.m[pivot*n+at]
		if !(math.Abs(scale) > leastPivot*largest) || math.IsInf(scale, 0) {
			return false
		}
		for _, m := range [][]float64{s.m, s.inverse} {
			swap(m, n, at, pivot)
			row := m[at*n : (at+1)*n]
			for j := range row {
				row[j] /= scale
			}
		}
		for i := range n {
			factor := s.m[i*n+at]
			if i == at || factor == 0 {
				continue
			}
			for _, m := range [][]float64{s.m, s.inverse} {
				for j := range n {
					m[i*n+j] -= factor * m[at*n+j]
				}
			}
		}
	}
	return !slices.ContainsFunc(s.inverse, math.IsNaN)
}

// swap exchanges rows a and b of m, a matrix n wide.
func swap(m []float64, n, a, b int) {
	for j := range n {
		m[a*n+j], m[b*n+j] = m[b*n+j], m[a*n+j]
	}
}
