package sdevae

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"driftscope/online"
)

// The last phase: the pairs that latents are found anew in, at most, the steps of the rate's rise, and how many times what the decoder
// left out before it may leave out after.
const (
	reinitPairs  = 1000
	reinitWarmup = 20
	reinitPoorer = 3
)

// redraw finds the latents anew, as at the start, among the features that were learnt: reconstruction bends latents, and the slowest
// components of what it needs are straight. Then the decoder, turned to them, learns alone. Where it cannot draw from them what it drew
// before, they do not hold it, as with an object that only drifts, whose slowest components are functions of how far it has come: then
// the latents before are kept.
func (s *session) reinitialise(ctx context.Context) error {
	if !s.reinitialising {
		err := s.keepBefore()
		if err == nil {
			err = s.newLatents()
		}
		if err != nil {
			return err
		}
		s.graph.Machine.Close()
		if s.graph, err = network.NewGraph(s.model, s.job.config.objective()); err != nil {
			return err
		}
		s.beginReinitialised()
	}
	if err := s.run(ctx, s.job.config.Steps+s.job.config.ReinitSteps); err != nil {
		return err
	}
	if s.kept == nil {
		return s.broken()
	}
	s.keepBetter()
	return nil
}

// setAside keeps the model as it is, with what it explains.
func (s *session) keepBefore() error {
	s.before, s.beforeLook = s.model.Clone(), Look{Restart: s.restart, Step: s.best.Step}
	err := s.judge(&s.beforeLook)
	s.beforeLook.Loss = s.beforeLook.HeldOut
	return err
}

// settle adopts the latents found anew, or those set aside where far more was drawn from them.
func (s *session) keepBetter() {
	if 1-s.best.Explained > reinitPoorer*(1-s.beforeLook.Explained) {
		s.best, s.kept = s.beforeLook, s.before
	}
	s.model.Adopt(s.kept)
}

// beginRedrawing leaves the encoder's means at rest, and the others to an optimiser that knows nothing yet.
func (s *session) beginReinitialised() {
	for i := range s.graph.Machine.Params {
		if p := &s.graph.Machine.Params[i]; p.PlacesFrames() {
			p.Freeze = math.MaxInt
		}
	}
	s.optimiser, s.reinitialising, s.done = network.NewAdam(s.graph.Machine.Params), true, s.job.config.Steps
	s.best, s.kept, s.stale, s.sum, s.since = Look{HeldOut: math.Inf(1)}, nil, 0, 0, 0
	if s.synthetic != nil {
		s.synthetic.graph.Machine.Close()
		s.synthetic = nil
	}
}

// anew replaces the means' layer by the slowest components of the features' moments. The decoder is turned to them; widths and drift
// begin again.
func (s *session) newLatents() error {
	m, pairs := s.model, numeric.Spread(s.job.train, reinitPairs)
	frames := video.FramesOf(pairs)
	x, p, err := m.Read(s.job.clip, frames)
	if err != nil {
		return err
	}
	before := mat.NewDense(len(frames), m.Dim, numeric.Float64s(p.Mean))
	if _, err := m.InitSlow(s.job.clip, pairs); err != nil {
		return err
	}
	clear(m.MeanT)
	after, err := m.Encode(x, m.Clock(s.job.clip, frames), len(frames))
	if err != nil {
		return err
	}
	m.Drift = online.NewNetwork(m.Drift.Dim, s.rng)
	m.InitWidths(p)
	return m.AlignDecoder(before, mat.NewDense(len(frames), m.Dim, numeric.Float64s(after.Mean)))
}
