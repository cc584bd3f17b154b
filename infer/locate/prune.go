package locate

import (
	"math"
	"slices"
)

// prune removes redundant spots whose light overlaps with others (backward elimination). If a cluster hides a spot, prune removes the member with the lowest
// score, provided that this score is below the threshold or the shape of a stronger member explains the spot. It then fits the other members again. Two spots
// on one object both score close to 0, so neither would be found; after the removal, the remaining spot has all the light.
func (l *Locator) prune() {
	c := &l.cluster
	l.link()
	gone := false
	for i := range l.spots {
		if c.group[i] != int32(i) || c.next[i] < 0 {
			continue
		}
		c.members = c.members[:0]
		for k := int32(i); k >= 0; k = c.next[k] {
			c.members = append(c.members, k)
		}
		if len(c.members) > mostShared {
			continue
		}
		for len(c.members) > 1 && l.loses() {
			at := l.uncalled()
			if at < 0 {
				break
			}
			s := &l.spots[c.members[at]]
			l.light(s, 1)
			s.a, gone = 0, true
			c.members = slices.Delete(c.members, at, at+1)
			l.solveAll()
		}
	}
	if gone {
		l.spots = slices.DeleteFunc(l.spots, func(s spot) bool { return s.a == 0 })
	}
}

// uncalled returns the index of the redundant member with the lowest score, or -1.
func (l *Locator) uncalled() int {
	at, least := -1, math.Inf(1)
	for i, k := range l.cluster.members {
		s := &l.spots[k]
		if s.score < least && (s.score < l.o.Threshold || l.belongs(s)) {
			at, least = i, s.score
		}
	}
	return at
}

// belongs reports whether a spot may be part of the shape of a stronger member of its cluster. A spot d sds away, with the share f of their common light, makes
// the two together longer than the template by f (1 - f) d²/2. For two halves this is δ²/2.
func (l *Locator) belongs(s *spot) bool {
	if l.ownLength == 0 {
		return false
	}
	for _, k := range l.cluster.members {
		o := &l.spots[k]
		d := math.Hypot(o.x-s.x, o.y-s.y) / l.template.sd
		f := s.a / (s.a + o.a)
		if f < 0.5 && f*(1-f)*d*d/2 < l.ownLength {
			return true
		}
	}
	return false
}

// loses reports whether a cluster hides a spot. Then a member scores below the threshold, although without its neighbours it would exceed the threshold by
// addedMore, the margin for a spot near another one. If all members are maxima of the noise, nothing is hidden.
func (l *Locator) loses() bool {
	for _, k := range l.cluster.members {
		s := &l.spots[k]
		alone := s.a * math.Sqrt(l.template.norm/l.noise.At(l.background.at(int(s.x+0.5), int(s.y+0.5))))
		if s.score < l.o.Threshold && alone >= l.o.Threshold+addedMore || l.belongs(s) {
			return true
		}
	}
	return false
}
