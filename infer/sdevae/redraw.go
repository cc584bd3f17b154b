package sdevae

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"driftscope/online/drift"
)

// The last phase: the pairs that latents are found anew in, at most, the steps of the rate's rise, and how many times what the decoder
// left out before it may leave out after.
const (
	redrawPairs  = 1000
	redrawWarmup = 20
	redrawPoorer = 3
)

// redraw finds the latents anew, as at the start, among the features that were learnt: reconstruction bends latents, and the slowest
// components of what it needs are straight. Then the decoder, turned to them, learns alone. Where it cannot draw from them what it drew
// before, they do not hold it, as with an object that only drifts, whose slowest components are functions of how far it has come: then
// the latents before are kept.
func (s *session) redraw(ctx context.Context) error {
	if !s.redrawing {
		err := s.setAside()
		if err == nil {
			err = s.anew()
		}
		if err != nil {
			return err
		}
		s.graph.close()
		if s.graph, err = newGraph(s.model, s.config); err != nil {
			return err
		}
		s.beginRedrawing()
	}
	if err := s.run(ctx, s.config.Steps+s.config.Redraw); err != nil {
		return err
	}
	if s.kept == nil {
		return s.broken()
	}
	s.settle()
	return nil
}

// setAside keeps the model as it is, with what it explains.
func (s *session) setAside() error {
	s.aside, s.drew = s.model.clone(), Look{Restart: s.restart, Step: s.best.Step}
	err := s.judge(&s.drew)
	s.drew.Loss = s.drew.HeldOut
	return err
}

// settle adopts the latents found anew, or those set aside where far more was drawn from them.
func (s *session) settle() {
	if 1-s.best.Explained > redrawPoorer*(1-s.drew.Explained) {
		s.best, s.kept = s.drew, s.aside
	}
	s.model.adopt(s.kept)
}

// beginRedrawing leaves the encoder's means at rest, and the others to an optimiser that knows nothing yet.
func (s *session) beginRedrawing() {
	for i := range s.graph.params {
		if p := &s.graph.params[i]; p.places() {
			p.lead = math.MaxInt
		}
	}
	s.optimiser, s.redrawing, s.done = newAdam(s.graph.params), true, s.config.Steps
	s.best, s.kept, s.stale, s.sum, s.since = Look{HeldOut: math.Inf(1)}, nil, 0, 0, 0
	if s.asleep != nil {
		s.asleep.close()
		s.asleep = nil
	}
}

// anew replaces the means' layer by the slowest components of the features' moments. The decoder is turned to them; widths and drift
// begin again.
func (s *session) anew() error {
	m, pairs := s.model, spread(s.train, redrawPairs)
	frames := framesOf(pairs)
	x, p, err := m.read(s.clip, frames)
	if err != nil {
		return err
	}
	before := mat.NewDense(len(frames), m.Dim, wide(p.Mean))
	if _, err := m.primeSlow(s.clip, pairs); err != nil {
		return err
	}
	clear(m.MeanT)
	after, err := m.Encode(x, m.clock(s.clip, frames), len(frames))
	if err != nil {
		return err
	}
	m.Drift = drift.NewNetwork(m.Drift.Dim, s.rng)
	m.widen(p)
	return m.turn(before, mat.NewDense(len(frames), m.Dim, wide(after.Mean)))
}

// widen begins the widths of latents of variance 1 at the mean share that those before have of their latents' standard deviation.
func (m *Model) widen(before *Posteriors) {
	share := 0.0
	for i := range m.Dim {
		sd := stat.StdDev(column(before.Mean, i, m.Dim), nil)
		for _, v := range column(before.LogDiag, i, m.Dim) {
			share += math.Exp(v) / (sd + 1e-12) / float64(len(before.Mean))
		}
	}
	for _, w := range [][]float32{m.LogSDW, m.LogSDT, m.BelowW, m.BelowB, m.BelowT} {
		clear(w)
	}
	for i := range m.LogSDB {
		m.LogSDB[i] = float32(math.Log(min(max(share, 1e-3), 1)))
	}
}

// turn has the decoder draw at the latents after (n×d) what it drew at those before, as far as these are affine in them.
func (m *Model) turn(before, after *mat.Dense) error {
	n, d := after.Dims()
	wider := mat.NewDense(n, d+1, nil)
	for i := range n {
		copy(wider.RawRowView(i), after.RawRowView(i))
		wider.Set(i, d, 1)
	}
	var back, turned mat.Dense
	if back.Solve(wider, before) != nil {
		return errors.New("the latents found anew do not vary: give a longer clip")
	}
	turned.Mul(&back, mat.NewDense(d, len(m.SeedB), wide(m.SeedW)))
	copy(m.SeedW, narrow(turned.RawMatrix().Data[:len(m.SeedW)]))
	for j, v := range turned.RawRowView(d) {
		m.SeedB[j] += float32(v)
	}
	return nil
}
