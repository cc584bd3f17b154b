package sdevae

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// apply maps posteriors into the frame of reference, as means and standard deviations (n × d each): with the slopes
// J = ∂zᵢ/∂mₗ at m, var z = diag(J L L' J').
func (r *reference) apply(p *Posteriors) (z, sd []float32) {
	d := len(r.mean)
	s := r.coordinates(p.Mean)
	z = r.straight(s)
	sd = make([]float32, len(z))
	root, slopes := mat.NewDense(d, d, nil), r.to
	var mapped mat.Dense
	for k := range len(z) / d {
		if r.bend != nil {
			slopes = r.slopesAt(s.RawRowView(k))
		}
		p.root(root.RawMatrix().Data, k)
		mapped.Mul(slopes.T(), root)
		for i := range d {
			sd[k*d+i] = float32(floats.Norm(mapped.RawRowView(i), 2))
		}
	}
	return z, sd
}

// straight is z of the coordinates s, n × d.
func (r *reference) straight(s *mat.Dense) []float32 {
	if r.bend == nil {
		return narrow(s.RawMatrix().Data)
	}
	return narrow(r.bend.apply(s).RawMatrix().Data)
}

// Frame of reference of the exported latents, rows as vectors: z = (m - mean) to, so that sigma is the identity; or, where the
// encoder's latents are bent, s = (m - mean) to and z = bend(s) (rectify.go).
type reference struct {
	mean         []float64
	to           *mat.Dense  // d × d: C^(-½), each column divided by its axis's standard deviation where bend follows
	back         *mat.Dense  // its inverse
	bend, unbend *polynomial // s → z and, fitted, z → s; nil where the latents are straight
}

// straighten is the first of the two ways that serves the clip; m are the latents as they came.
func (r *reference) straighten(m []float32, pairs []Pair, clip *Clip) (*reference, *Rectified, error) {
	straight, worth, err := r.rectify(m, pairs)
	if err != nil || worth != nil {
		return straight, worth, err
	}
	return r.level(m, pairs, clip)
}

// coordinates is (m - mean) to, n × d.
func (r *reference) coordinates(m []float32) *mat.Dense {
	d := len(r.mean)
	centred := wide(m)
	for i := range centred {
		centred[i] -= r.mean[i%d]
	}
	var s mat.Dense
	s.Mul(mat.NewDense(len(m)/d, d, centred), r.to)
	return &s
}

// unit is r with every axis divided by its standard deviation over m.
func (r *reference) unit(m []float32) *reference {
	s := r.coordinates(m)
	u := &reference{mean: r.mean, to: mat.DenseCopyOf(r.to), back: mat.DenseCopyOf(r.back)}
	for i := range r.mean {
		sd := stat.StdDev(mat.Col(nil, i, s), nil)
		for j := range r.mean {
			u.to.Set(j, i, u.to.At(j, i)/sd)
			u.back.Set(i, j, u.back.At(i, j)*sd)
		}
	}
	return u
}

// after is p with r's linear map behind it.
func (r *reference) after(p *polynomial) *polynomial {
	var weights, offset mat.Dense
	weights.Mul(p.weights, r.to)
	offset.Mul(mat.NewDense(1, len(r.mean), r.mean), r.to)
	for i := range r.mean {
		weights.Set(0, i, weights.At(0, i)-offset.At(0, i))
	}
	return &polynomial{p.basis, &weights}
}

// slopes is the polynomial in s whose output l·d + i is ∂zᵢ/∂mₗ.
func (r *reference) slopes() *polynomial {
	d := len(r.mean)
	j := r.bend.jacobian()
	for k := range j.basis {
		row := mat.NewDense(d, d, j.weights.RawRowView(k))
		row.Mul(r.to, mat.DenseCopyOf(row))
	}
	return j
}

// slopesAt is ∂zᵢ/∂mₗ at row l and column i.
func (r *reference) slopesAt(s []float64) *mat.Dense {
	d := len(r.mean)
	phi := mat.NewDense(len(r.bend.basis), d, nil)
	r.bend.basis.slopes(phi, s)
	var out mat.Dense
	out.Product(r.to, phi.T(), r.bend.weights)
	return &out
}

// bent is r, whose axes have variance 1 over m, followed by p and by another whitening.
func (r *reference) bent(p *polynomial, m []float32, pairs []Pair, worth Rectified) (*reference, *Rectified, error) {
	s := r.coordinates(m)
	white, err := whiten(narrow(p.apply(s).RawMatrix().Data), len(r.mean), pairs)
	if err != nil {
		return nil, nil, err
	}
	r.bend = white.after(p)
	z := r.bend.apply(s)
	if r.unbend, err = fitPolynomial(p.basis, z, s); err != nil {
		return nil, nil, err
	}
	var miss mat.Dense
	miss.Sub(r.unbend.apply(z), s)
	worth.Inverse = mat.Norm(&miss, 2) / mat.Norm(s, 2)
	return r, &worth, nil
}

// Rectified says what straightening the latents was worth.
type Rectified struct {
	Gain       float64 // nats a held-out pair; 0 where the pictures' components straightened them
	Components float64 // share of the pictures' variance that these explain; 0 where the likelihood straightened them
	Inverse    float64 // rms error of the decoder's way back from the latents, in their standard deviations
}
