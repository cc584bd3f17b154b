package locate

import (
	"cmp"
	"math"
	"slices"

	"driftscope/infer/locate/kernel"
)

// The joint fit.
const (
	fitRounds   = 3   // of adding spots from the residual, each after a fit of all
	fitSweeps   = 2   // over all spots, fewer if all rest
	fitSteps    = 3   // of Gauss-Newton in a sweep
	gang        = 64  // spots, mostly neighbours, that make their steps before the next gang, so that their pixels stay in the cache
	mostStep    = 0.5 // px that a spot may move in one step
	leastBend   = 0.7 // curvature of the likelihood over the curvature of the normal equations: the least that a step assumes
	mostBend    = 4
	resting     = 0.04 // px below which a spot rests: its next step would be a fraction of this one
	leastApart  = 0.85 // sds of the template within which two maxima are one spot
	wakeReach   = 6    // sds of the template, |x| + |y|, within which an added spot moves others again
	addedMore   = 1.0  // standard deviations more than the threshold that a spot added within reach of another must show
	patchReach  = 2.9  // sds of the template that a fit sees
	leastWeight = 1e-3 // px⁻², for a place that the picture hardly determines: the curvature of a prior of 30 px
)

// spot is one spot during the fit.
type spot struct {
	x, y, a    float64
	score      float64
	varX, varY float64
	last       move
	rests      bool // it did not move in its last step
	solved     bool // solved with its cluster, and nothing about it changed since
	whole      bool // it was not longer than the template at the last check, and has not moved since
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
		if round < 2 { // as it is seen, and without the spots
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

// band is the height, in px, of the parts of the picture whose spots are moved in turn, each part's brightest first.
const band = 16

// addSeeds adds a spot at each maximum of the score, and returns the number added.
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

// wake lets the spots about a place move again.
func (l *Locator) wake(x, y float64) {
	reach := wakeReach * l.template.sd
	l.grid.Near(x, y, reach, func(k int32) {
		if s := &l.spots[k]; math.Abs(s.x-x)+math.Abs(s.y-y) < reach {
			s.rests, s.solved, s.whole, s.last = false, false, false, move{}
		}
	})
}

// summit returns the offset of the peak of a parabola from a maximum of the filtered residual, px. It passes through neighbours a stride away.
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

// within returns the pixels between two places along a side of n, none if a place is NaN.
func within(least, most float64, n int) (from, to int) {
	if !(most >= 0 && least <= float64(n-1)) {
		return 0, 0
	}
	return int(math.Ceil(max(least, 0))), int(min(most, float64(n-1))) + 1
}

// move holds the last step of a spot: the step from the normal equations, and the step made.
type move struct{ askedX, askedY, x, y float64 }

// next returns the step to make for a new step of the normal equations. For a faint spot their curvature is wrong by a factor k, so they overshoot or
// fall short. The change of their step after the last move gives k, as in the secant rule.
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

// relight adds a times the template of a patch, whose factors are set, to the residual, and a spot's light times scale.
func (l *Locator) relight(was *kernel.Patch, a float64, s *spot, scale float64) {
	l.patchOf(&l.lit, s.x, s.y)
	l.lanes.Move(&l.field, was, float32(a), &l.lit, float32(scale*s.a))
	l.changes.mark(was.Area, l.template.reach)
	l.changes.mark(l.lit.Area, l.template.reach)
}

// settle moves all spots until they rest or have made all their steps.
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

// step moves every spot that does not rest by one Gauss-Newton step in the residual of the others. It reports whether all rest.
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

// newton makes one weighted Gauss-Newton step on amplitude and place in the residual of all spots. Weights are 1/var of the picture's pixels. It sets
// the score and the place's variances, and returns the length of the move.
func (l *Locator) newton(s *spot, p *kernel.Patch) float64 {
	m := &l.moments // of T, T u and T v; (u, v) is the offset from the place in sds
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

// nearest returns the distance of the nearest spot within 3 sds, else infinity.
func (l *Locator) nearest(x, y float64) float64 {
	least := math.Inf(1)
	l.grid.Near(x, y, 3*l.template.sd, func(k int32) { least = min(least, math.Hypot(l.spots[k].x-x, l.spots[k].y-y)) })
	return least
}
