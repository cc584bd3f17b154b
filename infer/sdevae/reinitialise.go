package sdevae

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
	"driftscope/online/drift"
)

const reinitPairs = 1000 // largest number of pairs used for the new latents

const reinitPoorer float64 = 3 // tuned train.reinitPoorer: largest growth of the unexplained part when latents are re-initialised: straighter latents reconstruct slightly worse, wrong ones far worse

// reinitialise replaces the latents by the slowest components of the learnt features, as at the start: the reconstruction bends the latents, but these
// components are straight. It then aligns the decoder with the new latents and trains the decoder alone. If the decoder explains far less than before, the new
// latents do not represent the state, and the previous latents stay. This happens for an object that only drifts, because its slowest components are functions
// of the distance covered.
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

// keepBefore stores the current model and its explained share.
func (s *session) keepBefore() error {
	s.before, s.beforeLook = s.model.Clone(), Look{Restart: s.restart, Step: s.best.Step}
	err := s.judge(&s.beforeLook)
	s.beforeLook.Loss = s.beforeLook.HeldOut
	return err
}

// keepBetter adopts the new latents, or the previous ones if these explained far more.
func (s *session) keepBetter() {
	if 1-s.best.Explained > reinitPoorer*(1-s.beforeLook.Explained) {
		s.best, s.kept = s.beforeLook, s.before
	}
	s.model.Adopt(s.kept)
}

// beginReinitialised freezes the encoder and starts a new optimiser for the other weights.
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

// newLatents replaces the layer of the means by the slowest components of the features' moments. It aligns the decoder with these, and re-initialises the
// widths and the drift.
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
	m.Drift = drift.NewNetwork(m.Drift.Dim, s.rng)
	m.InitWidths(p)
	return m.AlignDecoder(before, mat.NewDense(len(frames), m.Dim, numeric.Float64s(after.Mean)))
}
