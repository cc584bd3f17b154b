package sdevae

import (
	"math"
	"slices"

	"driftscope/online/drift"
)

// maxCalibration bounds the frames that batch normalisation's moments are measured on.
const maxCalibration = 600

// look measures the held-out pairs with the weights as they stand, keeps those if they are the best so far, and leaves the
// model with fresh moments.
func (s *session) look() (*Look, error) {
	if err := s.model.Drift.Load(s.graph.drift); err != nil {
		return nil, err
	}
	if err := s.model.calibrate(s.clip, spread(framesOf(s.train), maxCalibration)); err != nil {
		return nil, err
	}
	l := Look{Restart: s.restart, Step: s.done, Loss: s.sum / float64(s.since)}
	err := s.judge(&l)
	if err != nil {
		return nil, err
	}
	if s.since == 0 {
		l.Loss = l.HeldOut // no step was taken yet
	}
	s.looks = append(s.looks, l)
	s.sum, s.since, s.stale = 0, 0, s.stale+1
	if l.HeldOut < s.best.HeldOut {
		s.best, s.kept, s.stale = l, s.model.clone(), 0
	}
	if s.config.L1 > 0 {
		err = s.weigh()
	}
	return &l, err
}

// judge fills in what the model makes of the held-out pairs.
func (s *session) judge(l *Look) (err error) {
	l.HeldOut, l.Explained, err = heldOut(s.model, s.clip, s.held, s.config.Tau, s.still)
	l.Explained = min(1, l.Explained/s.moves) // what moves is itself estimated
	return err
}

// heldOut is the loss on pairs that were not trained on, at z = m, and the share explained of their pictures' squared distance from the
// picture still, their own mean where that is nil.
func heldOut(m *Model, c *Clip, pairs []Pair, tau float64, still []float32) (loss, explained float64, err error) {
	frames := framesOf(pairs)
	n, size := len(frames), c.Size()
	x, p, err := m.read(c, frames)
	if err != nil {
		return 0, 0, err
	}
	y := make([]float32, n*size)
	if err := m.Decode(y, p.Mean, n); err != nil {
		return 0, 0, err
	}
	if still == nil {
		still = average(x, n, size)
	}
	squared, total := squaredError(x, y), squaredError(x, still)
	for _, q := range m.profiled(p, m.clock(c, frames), frames, pairs) {
		loss += 0.5 * math.Log(q)
	}
	return loss - p.entropy() + squared/(2*tau*float64(n)), 1 - squared/total, nil
}

// profiled is q of the package's equations over the given pairs; row k of p, and of the clock where there is one, belongs to frame
// frames[k].
func (m *Model) profiled(p *Posteriors, clock []float32, frames []int, pairs []Pair) []float64 {
	d := m.Dim
	row := make(map[int]int, len(frames))
	for k, f := range frames {
		row[f] = k
	}
	variance := p.variances()
	q, z, next, scratch := make([]float64, d), make([]float64, m.Drift.Dim), make([]float64, m.Drift.Dim), new(drift.Scratch)
	for _, pair := range pairs {
		a, b := row[pair.First]*d, row[pair.First+1]*d
		copyFloats(z, p.Mean[a:a+d])
		if m.Span > 0 {
			z[d] = float64(clock[a/d])
		}
		m.carry(next, z, pair.DT, scratch)
		for i := range d {
			e := float64(p.Mean[b+i]) - next[i]
			q[i] += (e*e + variance[a+i] + variance[b+i]) / (pair.DT * float64(len(pairs)))
		}
	}
	return q
}

// carry is where the drift takes z within dt, in Substeps steps of Euler's. With a clock, that is behind z, and goes on by itself.
func (m *Model) carry(dst, z []float64, dt float64, scratch *drift.Scratch) {
	mu := make([]float64, m.Drift.Dim)
	copy(dst, z)
	for range m.Substeps {
		m.Drift.Drift(mu, dst, scratch)
		if m.Span > 0 {
			mu[m.Dim] = 2 / m.Span
		}
		for i, v := range mu {
			dst[i] += v * dt / float64(m.Substeps)
		}
	}
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

// spread picks at most n of all, evenly.
func spread[T any](all []T, n int) []T {
	if len(all) <= n {
		return all
	}
	out := make([]T, n)
	for i := range out {
		out[i] = all[i*len(all)/n]
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
