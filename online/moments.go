package online

import (
	"driftscope/internal/eigen"
	"errors"

	"gonum.org/v1/gonum/mat"
)

// moments are G and b of the constants, the linear fields u_j e_i and the radial field f, doc.go (8). The constants' own G is seconds·I,
// and they have nothing in common with the linear fields: the mean of u is 0.
type moments struct {
	seconds    float64    // that the steps carry
	longest    float64    // of the recording that they are part of
	push       []float64  // b of the constants, Σ Δx
	turn       *mat.Dense // b of the linear fields, Σ Δx u'
	spread     *mat.Dense // G of the linear fields, row by row of them, Σ Δt u u'
	skew       []float64  // G between the constants and the radial field, Σ Δt f
	curl       *mat.Dense // G between the linear fields and the radial one, Σ Δt f u'
	pull, gain float64    // b and G of the radial field
}

// newMoments adds up the steps.
func newMoments(s *Steps, b *basis) *moments {
	d := s.dim
	m := &moments{push: make([]float64, d), skew: make([]float64, d),
		turn: mat.NewDense(d, d, nil), spread: mat.NewDense(d, d, nil), curl: mat.NewDense(d, d, nil)}
	turn, spread, curl := m.turn.RawMatrix().Data, m.spread.RawMatrix().Data, m.curl.RawMatrix().Data
	for k, fields := range s.averaged(2*d, b.fields) {
		u, radial := fields[:d], fields[d:]
		dx, dt := s.row(k)
		m.seconds += dt
		for i, ui := range u {
			m.push[i] += dx[i]
			m.skew[i] += dt * radial[i]
			m.pull += radial[i] * dx[i]
			m.gain += dt * radial[i] * radial[i]
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

// axes are the directions Q in which Σ Δt u u' is diagonal, and that diagonal.
func (m *moments) axes() (q *mat.Dense, lambda []float64, err error) {
	q, lambda, err = principalAxes(eigen.Symmetric(m.spread))
	for i, v := range lambda {
		lambda[i] = max(0, v)
	}
	return q, lambda, err
}

// errMoments cannot come of latents that a diffusion can explain.
var errMoments = errors.New("online: the latents' moments are beyond floating point: look for outliers in the latents")

// principalAxes is eigen.Principal with this package's error.
func principalAxes(x *mat.SymDense) (q *mat.Dense, lambda []float64, err error) {
	if q, lambda, err = eigen.Principal(x); err != nil {
		return nil, nil, errMoments
	}
	return q, lambda, nil
}
