package sdevae

// primePairs is how many pairs priming looks at, at most.
const primePairs = 300

// Where a random last layer folds the motion over itself, and unfolding it takes hundreds of steps, a restart begins with an
// encoder whose latents are components of what its first, random convolutions see, each of variance 1. Which components serve
// depends on the clip, so restarts take turns. The sampling noise starts at sd 1, which keeps short clips from being learnt by heart.

// Where noise drowns a clip, what moves still stands out of the noise as a whole: a ball of 150 pixels, under noise of twice its
// brightness in each, by 6 standard deviations. Random kernels throw that away, and what a random decoder draws is louder than what moves.
const (
	drownedShare = 0.1  // of a clip's energy that moves, below which it is drowned
	drownedDraws = 8    // first encoders to choose from
	drownedPairs = 1000 // that they are primed on, at most
)

// drowned says that nearly all of the clip is noise.
func (j *job) drowned() bool { return j.moves < drownedShare }

// prime makes random weights ready for the clip, before the first step.
func (s *session) prime() error {
	if s.job.origin != nil {
		return nil
	}
	err := s.primeEncoder()
	if s.job.trail != nil {
		s.job.trail.silence(s.model)
	}
	return err
}

func (s *session) primeEncoder() error {
	switch {
	case s.job.drowned():
		return s.primeDrowned()
	case s.model.seesMoments():
		_, err := s.model.primeSlow(s.job.clip, spread(s.job.train, primePairs))
		return err
	}
	return s.model.primePrincipal(s.job.clip, s.job.train)
}

// primeDrowned begins with the slowest components of the moments of averages: the kernels' weights are random from channel to channel
// alone, and the first layer's biases put its zero at the clip's mean. Of several such encoders the one is kept whose components last
// longest; and where they last longer still if the first layer sees only what stands out of its noise, as a small thing does in a large
// picture whose noise weighs more in moments, it does. The decoder begins with the mean picture.
func (s *session) primeDrowned() error {
	var kept *Model
	var longest float64
	try := func() error {
		lasts, err := s.model.primeSlow(s.job.clip, spread(s.job.train, drownedPairs))
		if err == nil && (kept == nil || lasts > longest) {
			kept, longest = s.model.clone(), lasts
		}
		return err
	}
	for range drownedDraws {
		s.model.Encoder.Init(s.model.EncoderTheta, s.rng)
		s.model.average(s.job.clip)
		if err := try(); err != nil {
			return err
		}
	}
	s.model.adopt(kept)
	s.model.lift(s.job.clip)
	if err := try(); err != nil {
		return err
	}
	s.model.adopt(kept)
	s.model.drawMean()
	return nil
}
