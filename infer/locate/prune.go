package locate

import (
	"math"
	"slices"
)

// prune removes redundant spots next to others that share their light (backward elimination). From a cluster that hides a spot it removes the least
// certain member, if its score is below the threshold or another's own shape explains it. Then it solves for the others again. Two spots on one object
// both score close to 0, so neither would be found. One of them alone has all the light.
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

// uncalled returns the redundant member with the lowest score, or -1.
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

// belongs reports whether a spot may be part of the shape of a stronger member of its cluster. A spot with the share f of the light of both, d sds
// away, makes both together longer than the template by f (1 - f) d²/2. For two halves this is δ²/2.
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

// loses reports whether a cluster hides a spot: a member scores below the threshold, but its light alone would exceed the threshold by the margin for a
// spot within reach of another. Maxima of the noise that share light are all redundant.
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
