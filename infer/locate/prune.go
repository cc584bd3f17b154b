package locate

import (
	"math"
	"slices"
)

// prune takes spots away that the picture does not call for beside those that they share light with (backward elimination): of a cluster that hides a spot
// the one that is least certain, where its score is below the threshold or another's own shape explains it; then the others are solved for again. Two that
// stand for one object have two scores of next to nothing, and neither would be found; one of them alone has all its light.
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

// uncalled is the member of the least score among those that are not called for, -1 where all are.
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

// belongs tells whether a spot may be part of the shape of a stronger member of its cluster: one of a share f of the light of two, d sds away, makes the two
// longer than the template by f (1 - f) d²/2, which is δ²/2 of two halves.
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

// loses tells whether a cluster hides what would be found by itself: a member of a score below the threshold, whose light alone would be as much above the
// noise as a spot within reach of another must be. Of maxima of the noise that share light none is called for.
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
