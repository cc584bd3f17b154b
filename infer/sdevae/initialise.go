package sdevae

import (
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
)

// primePairs is how many pairs priming looks at, at most.
const initialPairs = 300

// Where a random last layer folds the motion over itself, and unfolding it takes hundreds of steps, a restart begins with an
// encoder whose latents are components of what its first, random convolutions see, each of variance 1. Which components serve
// depends on the clip, so restarts take turns. The sampling noise starts at sd 1, which keeps short clips from being learnt by heart.

// Where noise drowns a clip, what moves still stands out of the noise as a whole: a ball of 150 pixels, under noise of twice its
// brightness in each, by 6 standard deviations. Random kernels throw that away, and what a random decoder draws is louder than what moves.
const (
	lowSNRShare = 0.1  // of a clip's energy that moves, below which it is drowned
	lowSNRDraws = 8    // first encoders to choose from
	lowSNRPairs = 1000 // that they are primed on, at most
)

// drowned says that nearly all of the clip is noise.
func (j *job) lowSNR() bool { return j.moving < lowSNRShare }

// prime makes random weights ready for the clip, before the first step.
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

// primeDrowned begins with the slowest components of the moments of averages: the kernels' weights are random from channel to channel
// alone, and the first layer's biases put its zero at the clip's mean. Of several such encoders the one is kept whose components last
// longest; and where they last longer still if the first layer sees only what stands out of its noise, as a small thing does in a large
// picture whose noise weighs more in moments, it does. The decoder begins with the mean picture.
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
