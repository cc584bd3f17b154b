package locate

import "math"

// Two spots nearer than 2.4 sds have one maximum, and what one fitted spot leaves of them has none that stands out. But it is longer than the template.
// To second order in half their distance δ along u, two halves of a spot of amplitude a differ from it by
//
//	(a δ²/2) u' H u        H the template's second derivatives
//
// so K, fitted to the residual as Σ Kᵢⱼ Hᵢⱼ beside changes of amplitude and place, is (a δ²/2) u u': its eigenvalues differ. A spot that is wider than the
// template all round, as one out of focus is, has two equal ones, and is left whole.
const (
	splitScore = 6.0 // least score of a spot that is looked at: half of it is hardly a spot
	splitSDs   = 4.0 // standard deviations of the eigenvalues' difference from which a spot is split
	leastSplit = 0.6 // sds of the template: half the distance to begin with
	mostSplit  = 1.4
)

// split splits the spots that are longer than the template, and says how many.
func (l *Locator) split() (n int) {
	for i := range len(l.spots) {
		s := &l.spots[i]
		if s.score < splitScore || len(l.spots) >= 2*l.o.Max {
			continue
		}
		dx, dy, ok := l.elongation(s)
		if !ok {
			continue
		}
		l.light(s, 1)
		half := spot{x: s.x - dx, y: s.y - dy, a: s.a / 2}
		s.x, s.y, s.a, s.rests = s.x+dx, s.y+dy, s.a/2, false
		for _, o := range []*spot{s, &half} {
			o.x, o.y = min(max(o.x, 0), float64(l.w-1)), min(max(o.y, 0), float64(l.h-1))
			l.light(o, -1)
		}
		l.spots = append(l.spots, half)
		n++
	}
	return n
}

// elongation is half the way between the two spots that s is, where it is two.
func (l *Locator) elongation(s *spot) (dx, dy float64, ok bool) {
	var p patch
	l.patchOf(&p, s.x, s.y)
	const n = 6 // amplitude, place, and H's three entries
	var gram, root [n * n]float64
	var right [n]float64
	inverse, floor := 1/(l.kernel.sd*l.kernel.sd), l.noise.Floor()
	for y := p.y0; y < p.y1; y++ {
		v := float64(y) - s.y
		for x := p.x0; x < p.x1; x++ {
			at, u := y*l.w+x, float64(x)-s.x
			t := p.tx[x-p.x0] * p.ty[y-p.y0]
			left := float64(l.residual[at])
			w := 1 / max(l.noise.Read+l.noise.Gain*(float64(l.picture[at])-left), floor)
			g := [n]float64{t, s.a * t * u * inverse, s.a * t * v * inverse, t * (u*u*inverse - 1) * inverse, t * (v*v*inverse - 1) * inverse, 2 * t * u * v * inverse * inverse}
			for i := range g {
				wg := w * g[i]
				right[i] += wg * left
				for j := 0; j <= i; j++ {
					gram[i*n+j] += wg * g[j]
				}
			}
		}
	}
	for i := range n {
		gram[i*n+i] *= 1 + 1e-6
		for j := range i {
			gram[j*n+i] = gram[i*n+j]
		}
	}
	root = gram
	if !cholesky(root[:], n) {
		return 0, 0, false
	}
	k := right
	backsolve(root[:], k[:], n)
	// the eigenvalues' difference is 2 √(((Kxx-Kyy)/2)² + Kxy²), along the angle whose double has that tangent
	c, b := (k[3]-k[4])/2, k[5]
	difference := 2 * math.Hypot(c, b)
	if !(difference > 0) {
		return 0, 0, false
	}
	angle := 0.5 * math.Atan2(b, c)
	cos, sin := math.Cos(2*angle), math.Sin(2*angle)
	along := [n]float64{3: cos, 4: -cos, 5: 2 * sin} // ∂difference/∂k
	slope := along
	backsolve(root[:], along[:], n)
	variance := 0.0
	for i := range n {
		variance += slope[i] * along[i]
	}
	largest := (k[3]+k[4])/2 + difference/2
	if !(difference > splitSDs*math.Sqrt(variance)) || !(largest > 0) {
		return 0, 0, false
	}
	d := min(max(math.Sqrt(2*largest/s.a), leastSplit*l.kernel.sd), mostSplit*l.kernel.sd)
	return d * math.Cos(angle), d * math.Sin(angle), true
}
