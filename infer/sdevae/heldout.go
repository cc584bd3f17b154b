package sdevae

import (
	"math"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// maxCalibration is the largest number of frames used for the moments of batch normalisation.
const maxCalibration = 600

// look evaluates the current weights on the held-out pairs, and keeps a copy of the weights if they are the best so far. It also updates the model's moments.
func (s *session) look() (*Look, error) {
	if err := s.model.Drift.Load(s.graph.Drift); err != nil {
		return nil, err
	}
	if err := s.model.Calibrate(s.job.clip, numeric.Spread(video.FramesOf(s.job.train), maxCalibration)); err != nil {
		return nil, err
	}
	l := Look{Restart: s.restart, Step: s.done, Loss: s.sum / float64(s.since)}
	err := s.judge(&l)
	if err != nil {
		return nil, err
	}
	if s.since == 0 {
		l.Loss = l.HeldOut // no step yet
	}
	s.job.looks = append(s.job.looks, l)
	s.sum, s.since, s.stale = 0, 0, s.stale+1
	if l.HeldOut < s.best.HeldOut {
		s.best, s.kept, s.stale = l, s.model.Clone(), 0
	}
	if s.job.config.L1 > 0 {
		err = s.measureGain()
	}
	return &l, err
}

// judge evaluates the model on the held-out pairs.
func (s *session) judge(l *Look) (err error) {
	l.HeldOut, l.Explained, err = heldOut(s.model, s.job.clip, s.job.held, s.job.config.Tau, s.job.mean)
	l.Explained = min(1, l.Explained/s.job.moving) // the share can exceed 1, because the motion is an estimate
	return err
}

// heldOut returns the loss on held-out pairs, at z = m, and the explained share of the pictures' squared distance from `still`. If still is nil, it uses the
// mean of the pictures instead.
func heldOut(m *network.Model, c *video.Clip, pairs []video.Pair, tau float64, still []float32) (loss, explained float64, err error) {
	frames := video.FramesOf(pairs)
	n, size := len(frames), c.Size()
	x, p, err := m.Read(c, frames)
	if err != nil {
		return 0, 0, err
	}
	y := make([]float32, n*size)
	if err := m.Decode(y, p.Mean, n); err != nil {
		return 0, 0, err
	}
	if still == nil {
		still = numeric.MeanRow(x, n, size)
	}
	squared, total := numeric.SquaredError(x, y), numeric.SquaredError(x, still)
	for _, q := range m.Profiled(p, m.Clock(c, frames), frames, pairs) {
		loss += 0.5 * math.Log(q)
	}
	return loss - p.Entropy() + squared/(2*tau*float64(n)), 1 - squared/total, nil
}
