package online

// track is a list of latents as measured, in the order they came, in memory that is kept.
type track struct {
	dim int
	m   []float64 // n×dim
	dt  []float64 // n: since the one before, s; 0 where a run begins
}

// newTrack has room for n latents.
func newTrack(dim, n int) *track {
	return &track{dim: dim, m: make([]float64, 0, n*dim), dt: make([]float64, 0, n)}
}

func (t *track) len() int            { return len(t.dt) }
func (t *track) room() int           { return cap(t.dt) - len(t.dt) }
func (t *track) row(k int) []float64 { return t.m[k*t.dim : (k+1)*t.dim] }

// add appends m, dt after the one before it. There must be room.
func (t *track) add(m []float64, dt float64) {
	t.m, t.dt = append(t.m, m...), append(t.dt, dt)
}

func (t *track) clear() { t.m, t.dt = t.m[:0], t.dt[:0] }

// copy makes t what from is. There must be room.
func (t *track) copy(from *track) {
	t.m, t.dt = append(t.m[:0], from.m...), append(t.dt[:0], from.dt...)
}

// drop forgets the first n latents; a run that they began begins with the next.
func (t *track) drop(n int) {
	if n == 0 {
		return
	}
	t.m = t.m[:copy(t.m, t.m[n*t.dim:])]
	t.dt = t.dt[:copy(t.dt, t.dt[n:])]
	if t.len() > 0 {
		t.dt[0] = 0
	}
}

// take appends what fits of in's latents, the latest, and forgets as many of the first.
func (t *track) take(in *track) {
	from := max(0, in.len()-cap(t.dt))
	t.drop(max(0, in.len()-from-t.room()))
	for k := from; k < in.len(); k++ {
		dt := in.dt[k]
		if t.len() == 0 {
			dt = 0
		}
		t.add(in.row(k), dt)
	}
}

// began is the row of the latent that transition k, counted over all runs, began at.
func (t *track) began(k int) int {
	for row, dt := range t.dt {
		if dt == 0 {
			continue
		}
		if k == 0 {
			return row - 1
		}
		k--
	}
	return t.len()
}
