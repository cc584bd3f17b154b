package regression

import (
	"errors"

	"gonum.org/v1/gonum/mat"

	"driftscope/internal/kit/numbers"
)

// moments are G and b of the constants, the linear fields u_j e_i and the radial field f, (8). The constants' own G is seconds·I. They are uncoupled from the
// linear fields, because the mean of u is 0.
type moments struct {
	seconds          float64    // seconds of the steps
	longest          float64    // seconds of the recording that contains them
	constantB        []float64  // b of the constants, Σ Δx
	linearB          *mat.Dense // b of the linear fields, Σ Δx u'
	linearG          *mat.Dense // G of the linear fields, the same for every row i, Σ Δt u u'
	constantRadial   []float64  // G between the constants and the radial field, Σ Δt f
	linearRadial     *mat.Dense // G between the linear fields and the radial one, Σ Δt f u'
	radialB, radialG float64    // b and G of the radial field
}

// newMoments adds up the steps.
func newMoments(s *Steps, b *basis) *moments {
	d := s.dim
	m := &moments{constantB: make([]float64, d), constantRadial: make([]float64, d),
		linearB: mat.NewDense(d, d, nil), linearG: mat.NewDense(d, d, nil), linearRadial: mat.NewDense(d, d, nil)}
	turn, spread, curl := m.linearB.RawMatrix().Data, m.linearG.RawMatrix().Data, m.linearRadial.RawMatrix().Data
	for k, fields := range s.averaged(2*d, b.fields) {
		u, radial := fields[:d], fields[d:]
		dx, dt := s.row(k)
		m.seconds += dt
		for i, ui := range u {
			m.constantB[i] += dx[i]
			m.constantRadial[i] += dt * radial[i]
			m.radialB += radial[i] * dx[i]
			m.radialG += dt * radial[i] * radial[i]
			for j, uj := range u {
				turn[i*d+j] += dx[i] * uj
				spread[i*d+j] += dt * ui * uj
				curl[i*d+j] += dt * radial[i] * uj
			}
		}
	}
	m.longest = max(s.longest, m.seconds)
	return m
}

// axes returns the directions Q in which Σ Δt u u' is diagonal, and the diagonal.
func (m *moments) axes() (q *mat.Dense, lambda []float64, err error) {
	q, lambda, err = principal(numbers.Symmetric(m.linearG))
	for i, v := range lambda {
		lambda[i] = max(0, v)
	}
	return q, lambda, err
}

// ErrMoments reports overflowing sums. It cannot occur for latents that a diffusion can explain.
var ErrMoments = errors.New("online: the moments of the latents overflow: look for outliers in the latents")

// principal calls numbers.Principal and returns ErrMoments on failure.
func principal(x *mat.SymDense) (q *mat.Dense, lambda []float64, err error) {
	if q, lambda, err = numbers.Principal(x); err != nil {
		return nil, nil, ErrMoments
	}
	return q, lambda, nil
}
