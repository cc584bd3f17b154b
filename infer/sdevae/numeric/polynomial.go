package numeric

import (
	"errors"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Basis is a list of the monomials of d variables s up to a degree, in graded order: 1, then s₁…s_d, then s₁s₁, s₁s₂, … A monomial is the ascending list of its
// variables.
type Basis [][]int

// NewBasis returns the basis of d variables up to the given degree.
func NewBasis(d, degree int) Basis {
	b := Basis{{}}
	lower := b
	for range degree {
		var next Basis
		for _, term := range lower {
			first := 0
			if len(term) > 0 {
				first = term[len(term)-1]
			}
			for v := first; v < d; v++ {
				next = append(next, append(slices.Clone(term), v))
			}
		}
		b, lower = append(b, next...), next
	}
	return b
}

// Degree returns the highest degree.
func (b Basis) Degree() int { return len(b[len(b)-1]) }

// OfDegree lists the monomials of one degree.
func (b Basis) OfDegree(degree int) Basis {
	from := slices.IndexFunc(b, func(term []int) bool { return len(term) == degree })
	to := slices.IndexFunc(b, func(term []int) bool { return len(term) == degree+1 })
	if to < 0 {
		to = len(b)
	}
	return b[from:to]
}

// Index returns the position of a monomial, or -1 if the basis lacks it.
func (b Basis) Index(term []int) int {
	return slices.IndexFunc(b, func(other []int) bool { return slices.Equal(other, term) })
}

// values writes the len(b) values φ(s) to dst.
func (b Basis) values(dst, s []float64) {
	for k, term := range b {
		dst[k] = 1
		for _, v := range term {
			dst[k] *= s[v]
		}
	}
}

// Slopes writes ∂φₖ/∂sⱼ to row k and column j.
func (b Basis) Slopes(dst *mat.Dense, s []float64) {
	dst.Zero()
	for k, term := range b {
		for p, v := range term {
			rest := 1.0
			for q, w := range term {
				if q != p {
					rest *= s[w]
				}
			}
			dst.Set(k, v, dst.At(k, v)+rest)
		}
	}
}

// Polynomial is y = φ(s) W, with row vectors.
type Polynomial struct {
	Basis   Basis
	Weights *mat.Dense // monomials × outputs
}

// Apply maps the rows of s (n × d).
func (p *Polynomial) Apply(s *mat.Dense) *mat.Dense {
	var y mat.Dense
	y.Mul(p.Basis.Design(s), p.Weights)
	return &y
}

// Design returns φ of every row of s: n × monomials.
func (b Basis) Design(s *mat.Dense) *mat.Dense {
	n, _ := s.Dims()
	phi := mat.NewDense(n, len(b), nil)
	for k := range n {
		b.values(phi.RawRowView(k), s.RawRowView(k))
	}
	return phi
}

// Jacobian returns the polynomial whose output j·d + i is ∂yᵢ/∂sⱼ, over the same monomials.
func (p *Polynomial) Jacobian() *Polynomial {
	_, d := p.Weights.Dims()
	j := &Polynomial{p.Basis, mat.NewDense(len(p.Basis), d*d, nil)}
	for k, term := range p.Basis {
		for at, v := range term {
			lower := p.Basis.Index(slices.Delete(slices.Clone(term), at, at+1))
			row := j.Weights.RawRowView(lower)[v*d : (v+1)*d]
			for i := range row {
				row[i] += p.Weights.At(k, i)
			}
		}
	}
	return j
}

// FitPolynomial fits a polynomial from x to y (n × d each) by least squares. The ridge, relative to the size of each monomial, only keeps the equations
// solvable.
func FitPolynomial(b Basis, x, y *mat.Dense) (*Polynomial, error) {
	const ridge = 1e-9
	phi := b.Design(x)
	var normal mat.SymDense
	normal.SymOuterK(1, phi.T())
	for k := range b {
		normal.SetSym(k, k, normal.At(k, k)*(1+ridge))
	}
	var root mat.Cholesky
	if !root.Factorize(&normal) {
		return nil, errors.New("no inverse polynomial exists for the straightened latents, because they are not finite")
	}
	var moments, weights mat.Dense
	moments.Mul(phi.T(), y)
	_ = root.SolveTo(&weights, &moments) // the error only warns of bad conditioning, and the fit's accuracy is reported
	return &Polynomial{b, &weights}, nil
}
