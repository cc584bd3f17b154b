package sdevae

import (
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
)

// initialPairs is the largest number of pairs used for the initial latents.
const initialPairs = 300

// A random last layer folds the motion onto itself, and unfolding it takes hundreds of steps. So a restart begins with an encoder whose latents are components
// of the output of its random convolutions, each with variance 1. The best kind of components depends on the clip, so restarts alternate between kinds. The
// sampling noise starts with an sd of 1, which prevents overfitting to short clips.

// At low SNR an object as a whole still exceeds the noise: a ball of 150 pixels, in noise of twice its brightness per pixel, exceeds it by 6 standard
// deviations. Random kernels lose this signal, and the output of a random decoder has more energy than the motion.
const (
	lowSNRDraws = 8    // number of initial encoders tried
	lowSNRPairs = 1000 // largest number of pairs used for their latents
)

// lowSNR reports whether nearly all of the clip's energy is noise.
func (j *job) lowSNR() bool { return j.moving < numeric.LeastLayer }

// initialise prepares random weights for the clip, before the first step.
func (s *session) initialise() error {
	if s.job.origin != nil {
		return nil
	}
	err := s.initialiseEncoder()
	if s.job.tracked != nil {
		s.job.tracked.mutePadding(s.model)
	}
	return err
}

func (s *session) initialiseEncoder() error {
	switch {
	case s.job.lowSNR():
		return s.initialiseLowSNR()
	case s.model.SeesMoments():
		_, err := s.model.InitSlow(s.job.clip, numeric.Spread(s.job.train, initialPairs))
		return err
	}
	return s.model.InitPrincipal(s.job.clip, s.job.train)
}

// initialiseLowSNR begins with the slowest components of local averages. The kernels are constant in space and random across channels, and the first layer's
// biases shift its zero to the clip's mean. Of several such encoders it keeps the one with the slowest components. If an encoder with a raised threshold has
// slower components still, it keeps this one, because a small object in a large picture is visible only in pixels far above the noise. The decoder begins with
// the mean picture.
func (s *session) initialiseLowSNR() error {
	var kept *network.Model
	var longest float64
	try := func() error {
		lasts, err := s.model.InitSlow(s.job.clip, numeric.Spread(s.job.train, lowSNRPairs))
		if err == nil && (kept == nil || lasts > longest) {
			kept, longest = s.model.Clone(), lasts
		}
		return err
	}
	for range lowSNRDraws {
		s.model.Encoder.Init(s.model.EncoderTheta, s.rng)
		s.model.AverageKernels(s.job.clip)
		if err := try(); err != nil {
			return err
		}
	}
	s.model.Adopt(kept)
	s.model.RaiseThreshold(s.job.clip)
	if err := try(); err != nil {
		return err
	}
	s.model.Adopt(kept)
	s.model.DrawMean()
	return nil
}
