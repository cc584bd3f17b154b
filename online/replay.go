package online

import "math/rand/v2"

// transitions is a list of steps of the latents as the drift learns from them, one row a step, in memory that is kept.
type transitions struct {
	dim   int
	x     []float64 // where the step began: the filter's forecast, from earlier frames alone, n×dim
	y     []float64 // (m(t+1) - m(t))/Δt, n×dim, latent/s
	prior []float64 // the model's own drift at x, n×dim, latent/s
	dt    []float64 // n, s
}

// newTransitions has room for n steps.
func newTransitions(dim, n int) *transitions {
	room := func(n int) []float64 { return make([]float64, 0, n) }
	return &transitions{dim: dim, x: room(n * dim), y: room(n * dim), prior: room(n * dim), dt: room(n)}
}

func (t *transitions) len() int   { return len(t.dt) }
func (t *transitions) full() bool { return len(t.dt) == cap(t.dt) }

// resize makes t n steps long, within its room; steps beyond the old length hold what was there before, to be overwritten.
func (t *transitions) resize(n int) {
	t.x, t.y, t.prior, t.dt = t.x[:n*t.dim], t.y[:n*t.dim], t.prior[:n*t.dim], t.dt[:n]
}

// row lends step k.
func (t *transitions) row(k int) (x, y, prior []float64, dt *float64) {
	i, j := k*t.dim, (k+1)*t.dim
	return t.x[i:j], t.y[i:j], t.prior[i:j], &t.dt[k]
}

// replay is a bounded sample of all transitions so far, each as likely to be in it as any other (reservoir sampling), or,
// where memory is finite, the late ones likelier.
type replay struct {
	transitions
	seen   uint64
	memory float64 // transitions after which the past fades, +Inf for never
}

// take folds the steps of in into the sample.
func (r *replay) take(in *transitions, rng *rand.Rand) {
	for k := range in.len() {
		r.seen++
		slot := r.len()
		if r.full() {
			horizon := min(float64(r.seen), max(r.memory, float64(r.len())))
			if rng.Float64()*horizon >= float64(r.len()) {
				continue
			}
			slot = rng.IntN(r.len())
		} else {
			r.resize(slot + 1)
		}
		x, y, prior, dt := in.row(k)
		toX, toY, toPrior, toDT := r.row(slot)
		copy(toX, x)
		copy(toY, y)
		copy(toPrior, prior)
		*toDT = *dt
	}
}
