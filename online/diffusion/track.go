package diffusion

import (
	"math"

	"driftscope/internal/kit/archive"
)

// Track is a list of measured latents, in order of arrival, in reused memory.
type Track struct {
	dim int
	m   []float64 // n×dim
	dt  []float64 // n: time since the previous latent, s; 0 at the beginning of a trajectory
}

// NewTrack returns an empty Track with room for n latents.
func NewTrack(dim, n int) *Track {
	return &Track{dim: dim, m: make([]float64, 0, n*dim), dt: make([]float64, 0, n)}
}

// Dim returns the latents' dimension.
func (t *Track) Dim() int { return t.dim }

// Len returns the number of latents.
func (t *Track) Len() int { return len(t.dt) }

// Room returns the number of latents that can be added.
func (t *Track) Room() int { return cap(t.dt) - len(t.dt) }

// Row lends latent k.
func (t *Track) Row(k int) []float64 { return t.m[k*t.dim : (k+1)*t.dim] }

// DT lends the time between each latent and the previous one, s; 0 at the beginning of a trajectory.
func (t *Track) DT() []float64 { return t.dt }

// Add appends m, dt after the previous latent. There must be room.
func (t *Track) Add(m []float64, dt float64) {
	t.m, t.dt = append(t.m, m...), append(t.dt, dt)
}

// Clear drops all latents and reuses their memory.
func (t *Track) Clear() { t.m, t.dt = t.m[:0], t.dt[:0] }

// Copy copies from into t. There must be room.
func (t *Track) Copy(from *Track) {
	t.m, t.dt = append(t.m[:0], from.m...), append(t.dt[:0], from.dt...)
}

// Drop drops the first n latents. The next latent then begins a trajectory.
func (t *Track) Drop(n int) {
	if n == 0 {
		return
	}
	t.m = t.m[:copy(t.m, t.m[n*t.dim:])]
	t.dt = t.dt[:copy(t.dt, t.dt[n:])]
	if t.Len() > 0 {
		t.dt[0] = 0
	}
}

// Take appends the newest latents of in, at most as many as the track can hold, and drops the oldest latents to make room.
func (t *Track) Take(in *Track) {
	from := max(0, in.Len()-cap(t.dt))
	t.Drop(max(0, in.Len()-from-t.Room()))
	for k := from; k < in.Len(); k++ {
		dt := in.dt[k]
		if t.Len() == 0 {
			dt = 0
		}
		t.Add(in.Row(k), dt)
	}
}

// Began returns the row at which transition k begins, counted over all trajectories.
func (t *Track) Began(k int) int {
	for row, dt := range t.dt {
		if dt == 0 {
			continue
		}
		if k == 0 {
			return row - 1
		}
		k--
	}
	return t.Len()
}

// Box returns the smallest and the largest value of each dimension.
func (t *Track) Box() (low, high []float64) {
	low, high = make([]float64, t.dim), make([]float64, t.dim)
	for k := range t.Len() {
		for i, v := range t.Row(k) {
			if k == 0 {
				low[i], high[i] = v, v
			}
			low[i], high[i] = min(low[i], v), max(high[i], v)
		}
	}
	return low, high
}

// Near counts the latents within half a spread of z in each of the axes.
func (t *Track) Near(z []float64, axes []int, spread []float64) (n int) {
	for k := range t.Len() {
		inside := true
		for _, at := range axes {
			inside = inside && math.Abs(t.Row(k)[at]-z[at]) < spread[at]/2
		}
		if inside {
			n++
		}
	}
	return n
}

// Archive reads or writes the latents. It refuses more latents than the track can hold.
func (t *Track) Archive(a *archive.Codec) {
	n := uint64(t.Len())
	a.Uint(&n)
	a.Require(n <= uint64(cap(t.dt)), "%d latents, room for %d", n, cap(t.dt))
	if a.Err() != nil {
		return
	}
	if a.Reading() {
		t.m, t.dt = t.m[:int(n)*t.dim], t.dt[:n]
	}
	a.Floats(t.m)
	for k := range t.dt {
		a.Magnitudes(&t.dt[k])
	}
}
