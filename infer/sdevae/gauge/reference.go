package gauge

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Apply maps posteriors to the gauge's coordinates, as means and standard deviations (n × d each). With the slopes J = ∂zᵢ/∂mₗ at m, var z = diag(J L L' J').
func (r *Map) Apply(p *network.Posteriors) (z, sd []float32) {
	d := len(r.Mean)
	s := r.Affine(p.Mean)
	z = r.Polynomial(s)
	sd = make([]float32, len(z))
	root, slopes := mat.NewDense(d, d, nil), r.To
	var mapped mat.Dense
	for k := range len(z) / d {
		if r.Bend != nil {
			slopes = r.jacobianAt(s.RawRowView(k))
		}
		p.Root(root.RawMatrix().Data, k)
		mapped.Mul(slopes.T(), root)
		for i := range d {
			sd[k*d+i] = float32(floats.Norm(mapped.RawRowView(i), 2))
		}
	}
	return z, sd
}

// Polynomial returns z for the coordinates s, n × d.
func (r *Map) Polynomial(s *mat.Dense) []float32 {
	if r.Bend == nil {
		return numeric.Float32s(s.RawMatrix().Data)
	}
	return numeric.Float32s(r.Bend.Apply(s).RawMatrix().Data)
}

// Map takes the encoder's latents to exported latents, with row vectors: z = (m - mean) To, so that sigma is the identity. If the encoder's latents are bent, s
// = (m - mean) To and z = Bend(s) (rectify.go).
type Map struct {
	Mean         []float64
	To           *mat.Dense          // d × d: C^(-½); if Bend follows, each column is divided by the standard deviation of its axis
	Back         *mat.Dense          // inverse of To
	Bend, Unbend *numeric.Polynomial // s → z, and a fit of z → s; nil if the latents are straight
}

// Affine returns s = (m - mean) To, n × d.
func (r *Map) Affine(m []float32) *mat.Dense {
	d := len(r.Mean)
	centred := numeric.Float64s(m)
	for i := range centred {
		centred[i] -= r.Mean[i%d]
	}
	var s mat.Dense
	s.Mul(mat.NewDense(len(m)/d, d, centred), r.To)
	return &s
}

// UnitVariance returns r with every axis divided by its standard deviation over m.
func (r *Map) UnitVariance(m []float32) *Map {
	s := r.Affine(m)
	u := &Map{Mean: r.Mean, To: mat.DenseCopyOf(r.To), Back: mat.DenseCopyOf(r.Back)}
	for i := range r.Mean {
		sd := stat.StdDev(mat.Col(nil, i, s), nil)
		for j := range r.Mean {
			u.To.Set(j, i, u.To.At(j, i)/sd)
			u.Back.Set(i, j, u.Back.At(i, j)*sd)
		}
	}
	return u
}

// after returns p followed by r's affine part.
func (r *Map) after(p *numeric.Polynomial) *numeric.Polynomial {
	var weights, offset mat.Dense
	weights.Mul(p.Weights, r.To)
	offset.Mul(mat.NewDense(1, len(r.Mean), r.Mean), r.To)
	for i := range r.Mean {
		weights.Set(0, i, weights.At(0, i)-offset.At(0, i))
	}
	return &numeric.Polynomial{Basis: p.Basis, Weights: &weights}
}

// Jacobian returns the polynomial in s whose output l·d + i is ∂zᵢ/∂mₗ.
func (r *Map) Jacobian() *numeric.Polynomial {
	d := len(r.Mean)
	j := r.Bend.Jacobian()
	for k := range j.Basis {
		row := mat.NewDense(d, d, j.Weights.RawRowView(k))
		row.Mul(r.To, mat.DenseCopyOf(row))
	}
	return j
}

// jacobianAt returns the matrix with ∂zᵢ/∂mₗ in row l and column i.
func (r *Map) jacobianAt(s []float64) *mat.Dense {
	d := len(r.Mean)
	phi := mat.NewDense(len(r.Bend.Basis), d, nil)
	r.Bend.Basis.Slopes(phi, s)
	var out mat.Dense
	out.Product(r.To, phi.T(), r.Bend.Weights)
	return &out
}

// bent returns r followed by p and by another whitening. r's axes must have variance 1 over m.
func (r *Map) bent(p *numeric.Polynomial, m []float32, pairs []video.Pair, worth Rectified) (*Map, *Rectified, error) {
	s := r.Affine(m)
	white, err := Whiten(numeric.Float32s(p.Apply(s).RawMatrix().Data), len(r.Mean), pairs)
	if err != nil {
		return nil, nil, err
	}
	r.Bend = white.after(p)
	z := r.Bend.Apply(s)
	if r.Unbend, err = numeric.FitPolynomial(p.Basis, z, s); err != nil {
		return nil, nil, err
	}
	var miss mat.Dense
	miss.Sub(r.Unbend.Apply(z), s)
	worth.Inverse = mat.Norm(&miss, 2) / mat.Norm(s, 2)
	return r, &worth, nil
}

// Rectified reports the gain of straightening the latents.
type Rectified struct {
	Gain    float64 // nats per held-out pair
	Inverse float64 // rms error of Unbend, in standard deviations of the latents
}
