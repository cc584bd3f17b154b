// Tangent
//
//	μ(z) ≈ μ(c) + J(z - c),  F = I + JΔt
//
// A single dimension uses the diagonal of J: a Line, with F = Line.Decay, at least 0.

package drift

import "driftscope/internal/kit/archive"

// Line is the drift of one dimension, linear about Centre: Mu + Slope·(z - Centre).
type Line struct{ Mu, Slope, Centre float64 }

// Decay returns F, the factor of a deviation over dt. A step longer than the law's time constant gives 0.
func (l Line) Decay(dt float64) float64 { return max(0, 1+l.Slope*dt) }

// Tangent is the drift of all dimensions, linear about Centre: Mu + Jacobian·(z - Centre).
type Tangent struct {
	Centre   []float64
	Mu       []float64
	Jacobian []float64 // d×d, row i contains ∂μᵢ/∂zⱼ, from the last evaluation

	age uint64 // calls of Follow since the last evaluation was due
}

// NewTangent returns the tangent of zero drift.
func NewTangent(dim int) *Tangent {
	return &Tangent{Centre: make([]float64, dim), Mu: make([]float64, dim), Jacobian: make([]float64, dim*dim)}
}

// Follow moves the tangent to z. In many dimensions the network costs more than the rest of a frame, so Follow evaluates it only every d/2 calls. In between
// it extrapolates the drift by the Jacobian.
func (t *Tangent) Follow(f *Field, z []float64) {
	d := len(z)
	renew := t.age%uint64(max(1, d/2)) == 0
	t.age++
	for j, c := range z {
		for i := range t.Mu {
			t.Mu[i] += t.Jacobian[i*d+j] * (c - t.Centre[j])
		}
		t.Centre[j] = c
	}
	if renew {
		f.Linearise(t.Mu, t.Jacobian, t.Centre)
	}
}

// Renew makes the next Follow evaluate the network.
func (t *Tangent) Renew() { t.age = 0 }

// Line returns the drift of one dimension along its own axis.
func (t *Tangent) Line(i int) Line {
	return Line{Mu: t.Mu[i], Slope: t.Jacobian[i*len(t.Mu)+i], Centre: t.Centre[i]}
}

// Archive reads or writes the tangent.
func (t *Tangent) Archive(a *archive.Codec) {
	a.Floats(t.Centre)
	a.Floats(t.Mu)
	a.Floats(t.Jacobian)
	a.Uint(&t.age)
}
