package sdevae

import (
	"math"
	"slices"

	"driftscope/online"
)

// maxCalibration bounds the frames that batch normalisation's moments are measured on.
const maxCalibration = 600

// look measures the held-out pairs with the weights as they stand, and leaves the model with fresh moments.
func (s *session) look(step int, loss float64) (Look, error) {
	if err := s.model.Drift.Load(s.graph.drift); err != nil {
		return Look{}, err
	}
	if err := s.model.calibrate(s.clip, spread(framesOf(s.train), maxCalibration)); err != nil {
		return Look{}, err
	}
	l := Look{Restart: s.restart, Step: step, Loss: loss}
	var err error
	l.HeldOut, l.Explained, err = heldOut(s.model, s.clip, s.held, s.config.Tau)
	s.history = append(s.history, l)
	return l, err
}

// heldOut is the loss on pairs that were not trained on, at z = m, and the share of their pictures' variance explained.
func heldOut(m *Model, c *Clip, pairs []Pair, tau float64) (loss, explained float64, err error) {
	frames := framesOf(pairs)
	n, d, size := len(frames), m.Dim, c.Size()
	x, y := make([]float32, n*size), make([]float32, n*size)
	for i, f := range frames {
		copy(x[i*size:], c.Frame(f))
	}
	mean, sd := make([]float32, n*d), make([]float32, n*d)
	if err := m.Encode(mean, sd, x, n); err != nil {
		return 0, 0, err
	}
	if err := m.Decode(y, mean, n); err != nil {
		return 0, 0, err
	}
	squared, total := squaredError(x, y), squaredError(x, average(x, n, size))
	q := m.profiled(mean, sd, frames, pairs)
	for i := range d {
		loss += 0.5 * math.Log(q[i])
	}
	for _, v := range sd {
		loss -= math.Log(float64(v)) / float64(n)
	}
	return loss + squared/(2*tau*float64(n)), 1 - squared/total, nil
}

// profiled is q of the package's equations over the given pairs; row k of mean and sd belongs to frame frames[k].
func (m *Model) profiled(mean, sd []float32, frames []int, pairs []Pair) []float64 {
	d := m.Dim
	row := make(map[int]int, len(frames))
	for k, f := range frames {
		row[f] = k
	}
	q, z, mu, scratch := make([]float64, d), make([]float64, d), make([]float64, d), new(online.Scratch)
	for _, p := range pairs {
		a, b := row[p.First]*d, row[p.First+1]*d
		copyFloats(z, mean[a:a+d])
		m.Drift.Drift(mu, z, scratch)
		for i := range d {
			e := float64(mean[b+i]) - z[i] - mu[i]*p.DT
			s0, s1 := float64(sd[a+i]), float64(sd[b+i])
			q[i] += (e*e + s0*s0 + s1*s1) / (p.DT * float64(len(pairs)))
		}
	}
	return q
}

// framesOf lists the frames that pairs touch, in order, each once.
func framesOf(pairs []Pair) []int {
	var frames []int
	for _, p := range pairs {
		frames = append(frames, p.First, p.First+1)
	}
	slices.Sort(frames)
	return slices.Compact(frames)
}

// spread picks at most n of frames, evenly.
func spread(frames []int, n int) []int {
	if len(frames) <= n {
		return frames
	}
	out := make([]int, n)
	for i := range out {
		out[i] = frames[i*len(frames)/n]
	}
	return out
}

// squaredError is Σ (x - y)²; y is repeated where it is shorter.
func squaredError(x, y []float32) float64 {
	var sum float64
	for i, v := range x {
		d := float64(v - y[i%len(y)])
		sum += d * d
	}
	return sum
}

// average is the mean of n rows.
func average(x []float32, n, size int) []float32 {
	sum := make([]float64, size)
	for i, v := range x {
		sum[i%size] += float64(v)
	}
	mean := make([]float32, size)
	for i, v := range sum {
		mean[i] = float32(v / float64(n))
	}
	return mean
}
