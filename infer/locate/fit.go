package locate

import (
	"cmp"
	"math"
	"slices"
)

// The joint fit.
const (
	fitRounds   = 3    // of spots added where the residual shows one, each after a fit of all
	fitSteps    = 6    // of Gauss-Newton over all spots, fewer where they rest
	mostStep    = 0.5  // px that a spot may move in one
	resting     = 0.02 // px below which it has come to rest
	leastApart  = 0.85 // sds of the template within which two maxima are one spot
	addedMore   = 1.0  // standard deviations more than the threshold that a spot added within reach of another must show
	patchReach  = 2.9  // sds of the template that a fit sees
	leastWeight = 1e-3 // px⁻², of a place that the picture hardly tells: the curvature of a prior of 30 px
)

// spot is one that is being fitted.
type spot struct {
	x, y, a    float64
	score      float64
	varX, varY float64
	rests      bool
}

// fit finds the spots and leaves their light out of the residual.
func (l *Locator) fit() {
	for round := range fitRounds {
		l.score()
		if l.addSeeds(round) == 0 {
			return
		}
		for range fitSteps {
			if l.step() {
				break
			}
		}
		l.joint()
		if l.split() > 0 {
			l.joint()
		}
	}
}

// score sets z to the score that a spot at each pixel would have in the residual, by the noise of the background: (T * r) / √(var Σ T²).
func (l *Locator) score() {
	l.filter.apply(l.z, l.residual, l.kernel)
	norm, n := 1/math.Sqrt(l.kernel.norm), l.noise
	floor := float32(n.Floor())
	read, gain, scale := float32(n.Read), float32(n.Gain), float32(norm)
	for i, under := range l.under {
		v := read + gain*under
		if v < floor {
			v = floor
		}
		l.z[i] *= scale / sqrt32(v)
	}
}

func sqrt32(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// maxima lists the maxima of z from a height on.
func (l *Locator) maxima(least float32) {
	l.seeds = l.seeds[:0]
	w := l.w
	for y := 1; y+1 < l.h; y++ {
		row := l.z[y*w : (y+1)*w]
		up, down := l.z[(y-1)*w:y*w], l.z[(y+1)*w:(y+2)*w]
		for x := 1; x+1 < w; x++ {
			v := row[x]
			if v < least || v < row[x-1] || v <= row[x+1] || v < up[x] || v <= down[x] || v < up[x-1] || v < up[x+1] || v <= down[x-1] || v <= down[x+1] {
				continue
			}
			l.seeds = append(l.seeds, seed{int32(x), int32(y), v})
		}
	}
}

// higher orders seeds, the highest first, and those of equal height by place.
func higher(a, b seed) int {
	return cmp.Or(cmp.Compare(b.z, a.z), cmp.Compare(a.y, b.y), cmp.Compare(a.x, b.x))
}

// addSeeds makes spots of the maxima of z, and says how many.
func (l *Locator) addSeeds(round int) (added int) {
	w := l.w
	l.maxima(float32(l.o.Threshold))
	slices.SortFunc(l.seeds, higher)
	for _, s := range l.seeds {
		if len(l.spots) >= 2*l.o.Max {
			break
		}
		x, y := float64(s.x), float64(s.y)
		if near := l.nearest(x, y); near < leastApart*l.kernel.sd ||
			round > 0 && near < 3*l.kernel.sd && float64(s.z) < l.o.Threshold+addedMore {
			continue
		}
		a := float64(s.z) * math.Sqrt(l.noise.At(float64(l.under[int(s.y)*w+int(s.x)]))/l.kernel.norm)
		l.grid.Add(int32(len(l.spots)), x, y)
		l.spots = append(l.spots, spot{x: x, y: y, a: a})
		l.light(&l.spots[len(l.spots)-1], -1)
		added++
		for i := range l.spots { // its neighbours move again
			if round == 0 {
				break
			}
			if o := &l.spots[i]; math.Abs(o.x-x)+math.Abs(o.y-y) < 6*l.kernel.sd {
				o.rests = false
			}
		}
	}
	return added
}

// mostPatch is the side of the largest template.
const mostPatch = 2*int(MostSD)*3 + 4

// patch is where the template of a spot lies, cut at the picture's edges, with its values along both axes.
type patch struct {
	x0, y0, x1, y1 int
	tx, ty         [mostPatch]float64
}

func (l *Locator) patchOf(p *patch, x, y float64) {
	reach := patchReach * l.kernel.sd
	p.x0, p.x1 = max(0, int(math.Ceil(x-reach))), min(l.w, int(math.Floor(x+reach))+1)
	p.y0, p.y1 = max(0, int(math.Ceil(y-reach))), min(l.h, int(math.Floor(y+reach))+1)
	profile(p.tx[:p.x1-p.x0], float64(p.x0)-x, l.kernel.sd)
	profile(p.ty[:p.y1-p.y0], float64(p.y0)-y, l.kernel.sd)
}

// profile is exp(-u²/2s²) at u = from, from+1, …: each from the one before by a ratio that itself falls by a constant factor.
func profile(dst []float64, from, sd float64) {
	v := 1 / (2 * sd * sd)
	e, ratio, fall := math.Exp(-from*from*v), math.Exp(-(2*from+1)*v), math.Exp(-2*v)
	for i := range dst {
		dst[i] = e
		e *= ratio
		ratio *= fall
	}
}

// light adds a spot's light, times scale, to the residual.
func (l *Locator) light(s *spot, scale float64) {
	var p patch
	l.patchOf(&p, s.x, s.y)
	l.lightIn(&p, scale*s.a)
}

func (l *Locator) lightIn(p *patch, a float64) {
	tx := p.tx[:p.x1-p.x0]
	for y := p.y0; y < p.y1; y++ {
		row := l.residual[y*l.w+p.x0 : y*l.w+p.x1]
		k := a * p.ty[y-p.y0]
		for i := range row {
			row[i] += float32(k * tx[i])
		}
	}
}

// step moves every spot that does not rest by one step of Gauss-Newton in what the others leave. It says whether all rest.
func (l *Locator) step() bool {
	all := true
	var p patch
	for i := range l.spots {
		s := &l.spots[i]
		if s.rests {
			continue
		}
		l.patchOf(&p, s.x, s.y)
		l.lightIn(&p, s.a)
		moved := l.newton(s, &p)
		l.patchOf(&p, s.x, s.y)
		l.lightIn(&p, -s.a)
		if moved < resting {
			s.rests = true
		} else {
			all = false
		}
	}
	return all
}

// newton is one weighted Gauss-Newton step on amplitude and place, with the residual of the others in the picture: weights are 1/var of background
// and spot. It sets score and the place's variances, and returns how far the place moved.
func (l *Locator) newton(s *spot, p *patch) float64 {
	n, inverse := l.noise, 1/(l.kernel.sd*l.kernel.sd)
	floor := n.Floor()
	var aa, ax, ay, xx, xy, yy, ra, rx, ry float64
	tx := p.tx[:p.x1-p.x0]
	for y := p.y0; y < p.y1; y++ {
		row, under := l.residual[y*l.w+p.x0:y*l.w+p.x1], l.under[y*l.w+p.x0:y*l.w+p.x1]
		ty, dy := p.ty[y-p.y0], (float64(y)-s.y)*inverse
		for i, r := range row {
			t := ty * tx[i]
			model := s.a * t
			v := n.Read + n.Gain*(float64(under[i])+model)
			if v < floor {
				v = floor
			}
			weight := 1 / v
			left := float64(r) - model
			gx := model * (float64(p.x0+i) - s.x) * inverse
			gy := model * dy
			wt := weight * t
			aa += wt * t
			ax += wt * gx
			ay += wt * gy
			xx += weight * gx * gx
			xy += weight * gx * gy
			yy += weight * gy * gy
			ra += wt * left
			rx += weight * gx * left
			ry += weight * gy * left
		}
	}
	xx += leastWeight
	yy += leastWeight
	// the 3 × 3 normal equations, by elimination of the amplitude
	if !(aa > 0) {
		s.a, s.score = 0, 0
		return 0
	}
	fx, fy := ax/aa, ay/aa
	pxx, pxy, pyy := xx-fx*ax, xy-fx*ay, yy-fy*ay
	bx, by := rx-fx*ra, ry-fy*ra
	d := pxx*pyy - pxy*pxy
	if !(d > 0) {
		s.a, s.score = 0, 0
		return 0
	}
	dx, dy := (pyy*bx-pxy*by)/d, (pxx*by-pxy*bx)/d
	da := (ra - ax*dx - ay*dy) / aa
	dx, dy = min(max(dx, -mostStep), mostStep), min(max(dy, -mostStep), mostStep)
	s.x, s.y = min(max(s.x+dx, 0), float64(l.w-1)), min(max(s.y+dy, 0), float64(l.h-1))
	s.a = max(s.a+da, 1e-3*s.a)
	s.score = s.a * math.Sqrt(aa)
	s.varX, s.varY = pyy/d, pxx/d
	return math.Hypot(dx, dy)
}

// nearest is the distance of the nearest spot, as far as one is within 3 sds; else infinite.
func (l *Locator) nearest(x, y float64) float64 {
	least := math.Inf(1)
	l.grid.Near(x, y, 3*l.kernel.sd, func(k int32) { least = min(least, math.Hypot(l.spots[k].x-x, l.spots[k].y-y)) })
	return least
}
