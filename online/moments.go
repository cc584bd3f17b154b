package online

import (
	"errors"

	"gonum.org/v1/gonum/mat"
)

// moments are G and b of the constants, the linear fields u_j e_i and the radial field, doc.go (11), with the share of the noise
// taken out of b. The constants' own G is seconds·I, and they have nothing in common with the linear fields: the mean of u is 0.
type moments struct {
	n, seconds float64
	push       []float64  // b of the constants, Σ Δx
	turn       *mat.Dense // b of the linear fields, Σ Δx u' + n diag(R)/ρ
	spread     *mat.Dense // G of the linear fields, row by row of them, Σ Δt u u'
	skew       []float64  // G between the constants and the radial field, Σ Δt ½(|u|²-a) u
	curl       *mat.Dense // G between the linear fields and the radial one, Σ Δt ½(|u|²-a) u u'
	pull, gain float64    // b and G of the radial field
}

// newMoments adds up the steps.
func newMoments(s *steps, b *basis) *moments {
	d := s.dim
	m := &moments{n: float64(s.len()), push: make([]float64, d), skew: make([]float64, d),
		turn: mat.NewDense(d, d, nil), spread: mat.NewDense(d, d, nil), curl: mat.NewDense(d, d, nil)}
	turn, spread, curl := m.turn.RawMatrix().Data, m.spread.RawMatrix().Data, m.curl.RawMatrix().Data
	u := make([]float64, d)
	for k := range s.len() {
		x, dx, dt := s.row(k)
		b.scaled(u, x)
		bend := b.bend(u)
		m.seconds += dt
		for i, ui := range u {
			m.push[i] += dx[i]
			m.skew[i] += dt * bend * ui
			m.pull += bend*ui*dx[i] + s.noise[i]/b.scale*(bend+ui*ui)
			m.gain += dt * bend * bend * ui * ui
			for j, uj := range u {
				turn[i*d+j] += dx[i] * uj
				spread[i*d+j] += dt * ui * uj
				curl[i*d+j] += dt * bend * ui * uj
			}
		}
	}
	for i, r := range s.noise {
		turn[i*d+i] += m.n * r / b.scale
	}
	return m
}

// leastKept is the part of what was measured along a direction that is motion at least, however much noise is said to be in it.
const leastKept = 0.1

// axes are the directions Q in which Σ Δt u u' is diagonal once the noise's share is taken off it, and that diagonal.
func (m *moments) axes(noise []float64, scale float64) (q *mat.Dense, lambda []float64, err error) {
	clean := symmetricPart(m.spread)
	for i, r := range noise {
		clean.SetSym(i, i, clean.At(i, i)-m.seconds*r/(scale*scale))
	}
	if q, lambda, err = principal(clean); err != nil {
		return nil, nil, err
	}
	for i := range lambda {
		axis := q.ColView(i)
		lambda[i] = max(lambda[i], leastKept*max(0, mat.Inner(axis, m.spread, axis)))
	}
	return q, lambda, nil
}

// errMoments cannot come of latents that a diffusion can explain.
var errMoments = errors.New("online: the latents' moments are beyond floating point: look for outliers in the latents")

// principal gives x = Q diag(λ) Q', λ ascending.
func principal(x *mat.SymDense) (q *mat.Dense, lambda []float64, err error) {
	var eigen mat.EigenSym
	if !finite(x.RawSymmetric().Data) || !eigen.Factorize(x, true) {
		return nil, nil, errMoments
	}
	q = new(mat.Dense)
	eigen.VectorsTo(q)
	return q, eigen.Values(nil), nil
}

// rotated is Q'XQ.
func rotated(x, q mat.Matrix) *mat.Dense {
	var half, full mat.Dense
	half.Mul(x, q)
	full.Mul(q.T(), &half)
	return &full
}

// symmetricPart is ½(X + X').
func symmetricPart(x mat.Matrix) *mat.SymDense {
	n, _ := x.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (x.At(i, j)+x.At(j, i))/2)
		}
	}
	return s
}
