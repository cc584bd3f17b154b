package locate

import (
	"cmp"
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
)

// Parameters of the joint fit.
const (
	fitRounds   = 3   // rounds that add spots from the residual; each round ends with a fit of all spots
	fitSweeps   = 2   // sweeps over all spots, fewer if all are at rest
	fitSteps    = 3   // Gauss-Newton steps per sweep
	gang        = 64  // spots, mostly neighbours, that complete their steps before the next gang starts; their pixels stay in the cache
	mostStep    = 0.5 // largest move of a spot in one step, px
	leastBend   = 0.7 // smallest ratio that a step assumes between the curvatures of the likelihood and of the normal equations
	mostBend    = 4
	resting     = 0.04 // a spot whose step is shorter, px, is at rest; its next step would be a fraction of this one
	leastApart  = 0.85 // distance within which two maxima are one spot, sds of the template
	wakeReach   = 6    // distance |x| + |y| within which spots move again after a spot was added, sds of the template
	addedMore   = 1.0  // score above the threshold that a spot near another one needs in later rounds
	patchReach  = 2.9  // radius of the pixels used in a fit, sds of the template
	leastWeight = 1e-3 // px⁻²: curvature of a prior with an sd of 30 px, for positions that the picture hardly determines
)

// spot is one spot during the fit.
type spot struct {
	x, y, a    float64
	score      float64
	varX, varY float64
	last       move
	rests      bool // its last step was shorter than resting
	solved     bool // fitted with its cluster, and unchanged since
	whole      bool // not longer than the template at the last check, and not moved since
}

// fit finds the spots and subtracts their light from the residual.
func (l *Locator) fit() {
	l.left = 0
	l.search()
	l.prune()
}

// search adds spots and fits them.
func (l *Locator) search() {
	for round := range fitRounds {
		l.filterChanges(l.o.Threshold)
		if round < 2 { // once with and once without the spots
			texture, _ := l.scatter()
			l.rescale(texture)
		}
		l.score(l.o.Threshold)
		if l.addSeeds(round) == 0 {
			return
		}
		l.settle()
		l.joint()
		if l.ownLength > 0 {
			l.prune()
		}
		if l.split() > 0 {
			l.joint()
			l.mend()
		}
	}
}

// band is the height in px of horizontal bands of the picture. New spots are ordered by band, and within a band the brightest come first.
const band = 16

// addSeeds adds a spot at each maximum of the score, and returns the number of spots added.
func (l *Locator) addSeeds(round int) int {
	slices.SortFunc(l.seeds, higher)
	l.place()
	first := len(l.spots)
	for _, s := range l.seeds {
		if len(l.spots) >= 2*l.o.Max {
			l.left++
			continue
		}
		x, y := float64(s.x), float64(s.y)
		if near := l.nearest(x, y); near < leastApart*l.template.sd ||
			round > 0 && near < 3*l.template.sd && float64(s.z) < l.o.Threshold+addedMore {
			continue
		}
		if round > 0 {
			l.wake(x, y)
		}
		at := int(s.y)*l.w + int(s.x)
		x, y = x+l.summit(at, 1), y+l.summit(at, l.w)
		l.grid.Add(int32(len(l.spots)), x, y)
		l.spots = append(l.spots, spot{x: x, y: y, a: float64(l.filter.Out.Pixels[at]) / l.template.norm})
	}
	added := l.spots[first:]
	slices.SortFunc(added, func(a, b spot) int {
		if d := int(a.y)/band - int(b.y)/band; d != 0 {
			return d
		}
		return cmp.Compare(b.a, a.a)
	})
	for i := range added {
		l.light(&added[i], -1)
	}
	return len(added)
}

// wake lets the spots near a position move again.
func (l *Locator) wake(x, y float64) {
	reach := wakeReach * l.template.sd
	l.grid.Near(x, y, reach, func(k int32) {
		if s := &l.spots[k]; math.Abs(s.x-x)+math.Abs(s.y-y) < reach {
			s.rests, s.solved, s.whole, s.last = false, false, false, move{}
		}
	})
}

// summit returns the offset in px from a maximum of the filtered residual to the peak of the parabola through it and its two neighbours. These are `stride`
// elements away.
func (l *Locator) summit(at, stride int) float64 {
	before, top, after := float64(l.filter.Out.Pixels[at-stride]), float64(l.filter.Out.Pixels[at]), float64(l.filter.Out.Pixels[at+stride])
	bend := before - 2*top + after
	if !(bend < 0) {
		return 0
	}
	return min(max(0.5*(before-after)/bend, -0.5), 0.5)
}

// patchOf sets the patch of a spot's template at (x, y), cut at the picture's edges.
func (l *Locator) patchOf(p *kernel.Patch, x, y float64) {
	reach := patchReach * l.template.sd
	p.X0, p.X1 = within(x-reach, x+reach, l.w)
	p.Y0, p.Y1 = within(y-reach, y+reach, l.h)
	p.FromX, p.FromY = float32(float64(p.X0)-x), float32(float64(p.Y0)-y)
}

// within returns the range of pixels between two positions along a side of n px. The range is empty if a position is NaN.
func within(least, most float64, n int) (from, to int) {
	if !(most >= 0 && least <= float64(n-1)) {
		return 0, 0
	}
	return int(math.Ceil(max(least, 0))), int(min(most, float64(n-1))) + 1
}

// move holds the last step of a spot: as computed from the normal equations, and as made.
type move struct{ askedX, askedY, x, y float64 }

// next returns the step to make, given the step (x, y) from the normal equations. For a faint spot the equations' curvature is wrong by a factor k, so their
// steps are too long or too short. next estimates k from the change of these steps after the last move, as in the secant method.
func (m *move) next(x, y float64) (dx, dy float64) {
	k := 1.0
	if square := m.x*m.x + m.y*m.y; square > 0 {
		k = min(max(((m.askedX-x)*m.x+(m.askedY-y)*m.y)/square, leastBend), mostBend)
	}
	dx, dy = min(max(x/k, -mostStep), mostStep), min(max(y/k, -mostStep), mostStep)
	*m = move{x, y, dx, dy}
	return dx, dy
}

// light adds a spot's light, times scale, to the residual.
func (l *Locator) light(s *spot, scale float64) {
	l.patch.Area = kernel.Area{}
	l.relight(&l.patch, 0, s, scale)
}

// relight adds two things to the residual: the template of the patch `was` times a, and a spot's light times scale. The factors of `was` must be set.
func (l *Locator) relight(was *kernel.Patch, a float64, s *spot, scale float64) {
	l.patchOf(&l.lit, s.x, s.y)
	l.lanes.Move(&l.field, was, float32(a), &l.lit, float32(scale*s.a))
	l.changes.mark(was.Area, l.template.reach)
	l.changes.mark(l.lit.Area, l.template.reach)
}

// settle moves all spots until they are at rest or have made all their steps.
func (l *Locator) settle() {
	for range fitSweeps {
		for spots := range slices.Chunk(l.spots, gang) {
			for range fitSteps {
				if l.step(spots) {
					break
				}
			}
		}
	}
}

// step moves every spot that is not at rest by one Gauss-Newton step in the residual of the others. It reports whether all are at rest.
func (l *Locator) step(spots []spot) bool {
	all := true
	p := &l.patch
	for i := range spots {
		s := &spots[i]
		if s.rests {
			continue
		}
		l.patchOf(p, s.x, s.y)
		a := s.a
		moved := l.newton(s, p)
		l.relight(p, a, s, -1)
		s.rests, s.solved, s.whole = moved < resting, false, false
		all = all && s.rests
	}
	return all
}

// newton makes one weighted Gauss-Newton step on a spot's amplitude and position, using the residual of all spots. The weights are 1/var of the picture's
// pixels. It sets the score and the position's variances, and returns the length of the move.
func (l *Locator) newton(s *spot, p *kernel.Patch) float64 {
	m := &l.moments // moments of T, T u and T v; (u, v) is the offset from the position in sds
	l.lanes.Sum(m, &l.field, p, 2)
	aa, ax, ay := m.Square[0][0], m.Square[1][0], m.Square[0][1]
	xx, xy, yy := m.Square[2][0], m.Square[1][1], m.Square[0][2]
	ra, rx, ry := m.Single[0][0], m.Single[1][0], m.Single[0][1]
	k := s.a / l.template.sd // ∂model/∂x = k T u
	ax, ay, rx, ry = k*ax, k*ay, k*rx, k*ry
	xx, xy, yy = k*k*xx, k*k*xy, k*k*yy
	xx += leastWeight
	yy += leastWeight
	// the 3 × 3 normal equations, after eliminating the amplitude
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
	if sum := dx + dy + da; sum-sum != 0 { // float32 overflow
		s.a, s.score = 0, 0
		return 0
	}
	dx, dy = s.last.next(dx, dy)
	s.x, s.y = min(max(s.x+dx, 0), float64(l.w-1)), min(max(s.y+dy, 0), float64(l.h-1))
	s.a = max(s.a+da, 1e-3*s.a)
	s.score = s.a * math.Sqrt(aa)
	s.varX, s.varY = pyy/d, pxx/d
	return math.Hypot(dx, dy)
}

// nearest returns the distance to the nearest spot within 3 sds, or infinity.
func (l *Locator) nearest(x, y float64) float64 {
	least := math.Inf(1)
	l.grid.Near(x, y, 3*l.template.sd, func(k int32) { least = min(least, math.Hypot(l.spots[k].x-x, l.spots[k].y-y)) })
	return least
}
