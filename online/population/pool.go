package population

import "math"

// Pool is the mean coefficient of diffusion over the steps of all tracks. The zero value has none.
type Pool struct {
	total    [terms]float64        // Σ over tracks
	products [terms][terms]float64 // Σ of products, of which the variance between tracks follows
	tracks   float64
}

// Add takes in a track.
func (p *Pool) Add(l *Law) {
	if l.sums.steps == 0 {
		return
	}
	v := l.sums.list()
	for i := range v {
		p.total[i] += v[i]
		for j := range v {
			p.products[i][j] += v[i] * v[j]
		}
	}
	p.tracks++
}

// Steps is how many the pool rests on.
func (p *Pool) Steps() uint64 { return uint64(p.total[1]) }

// Tracks is how many gave them.
func (p *Pool) Tracks() uint64 { return uint64(p.tracks) }

// Diffusion is the mean D. Its interval is that of tracks drawn anew: D is (a/4 + c/2)/τ of the means a of Δ², c of ΔΔ' and τ of Δt, to first order a
// sum over tracks, whose squares are its variance (a cluster-robust one). Few tracks say little of their spread: the interval is that of the steps
// alone at least.
func (p *Pool) Diffusion(exposure float64) Diffusion {
	s := sums{p.total[0], p.total[1], p.total[2], p.total[3], p.total[4]}
	pooled := s.diffusion(exposure)
	if math.IsNaN(pooled.D) || p.tracks < 2 {
		return pooled
	}
	a, c, tau := s.squares/s.steps, s.crossed/s.pairs, s.seconds/s.steps
	d, noise, dt := s.estimate()
	// ∂D of a track's sums: of Δ², steps, ΔΔ', pairs and seconds
	w := [terms]float64{1 / (2 * axes * s.steps * tau), (-a/(2*axes) + d*tau) / (s.steps * tau), 1 / (axes * s.pairs * tau), -c / (axes * s.pairs * tau), -d / (s.steps * tau)}
	variance := 0.0
	for i := range w {
		for j := range w {
			variance += w[i] * p.products[i][j] * w[j]
		}
	}
	sd := max(math.Sqrt(max(variance, 0)*p.tracks/(p.tracks-1)), s.sd(d, noise, dt))
	pooled.Low, pooled.High = max(d-normal95*sd, 0), max(d+normal95*sd, 0)
	return pooled
}
