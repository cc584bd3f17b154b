package tracks

import (
	"cmp"
	"math"
	"slices"
)

// A frame decides by what was seen up to it. The next ones may tell that two tracks were exchanged: one that hardly moves took the steps of one that
// moves far. So the last frames stay open: rivals are two tracks of which each may be the other from a frame on, and where their detections since are
// likelier the other way around, they are exchanged.
const (
	window = 8    // updates that are kept: of 500 vesicles, given perfectly, beta is 0.776 with 5, 0.792 with 8 and 0.787 with 12
	steps  = 4000 // that the rivals of an update may predict together; there are more only in a dense field of which frames are lost
	margin = 6.0  // nats: what is less likely than one in 400 is no rival; 10 finds no more
)

// rival is two tracks that may be each other from an update on.
type rival struct {
	a, b *track // b nil: a may have ended, and another begun
	n    int
	more float64 // how much likelier it is as it is, nats
}

// fresh is a track without a detection, in the memory of one that is over.
func (t *Tracker) fresh() *track {
	k := &track{}
	if n := len(t.free); n > 0 {
		k = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		k.steps = make([]step, window)
	}
	for i := range k.steps {
		k.steps[i].sight = sight{detection: Undetected}
	}
	*k = track{id: t.next, steps: k.steps}
	return k
}

// enter adds a track to those that live.
func (t *Tracker) enter(k *track) {
	k.row, k.first, k.last = len(t.live), 0, 0
	t.live = append(t.live, k)
	t.next++
}

// meet lists the rivals of this update: those for whom another assignment of two tracks would cost little more. Older ones that the window no longer
// has are dropped.
func (t *Tracker) meet(match []int32) {
	kept := t.rivals[:0]
	for _, r := range t.rivals {
		if t.n-r.n < window-1 {
			kept = append(kept, r)
		}
	}
	t.rivals = kept
	before := len(kept)
	for _, p := range t.pairs {
		a, b, more := t.live[p.Row], t.owner[p.Column], 0.0
		own := int(match[p.Row])
		switch {
		case own == p.Column:
			b, more = nil, -p.Cost
		case b == nil:
			continue
		default:
			more = p.Cost - t.cost(a, own)
			if b.born < t.n {
				back := t.cost(b, own)
				if back != 0 && b.row < a.row { // then b's pair has told of it
					continue
				}
				more += min(back, 0) - t.cost(b, p.Column)
			}
		}
		if more < margin {
			t.rivals = append(t.rivals, rival{a, b, t.n, more})
		}
	}
	t.nearest(before)
}

// nearest keeps those rivals of this update, from an index on, that are likeliest the other way around, as many as may be followed.
func (t *Tracker) nearest(from int) {
	all := t.rivals[from:]
	most := steps / min(t.clock[t.n%window].gap, mostGap)
	if len(all) <= most {
		return
	}
	slices.SortStableFunc(all, func(a, b rival) int { return cmp.Compare(a.more, b.more) })
	t.rivals = t.rivals[:from+most]
}

// cost is that of a track's pair with detection j, 0 where it has none.
func (t *Tracker) cost(k *track, j int) float64 {
	for _, p := range t.pairs[k.first:k.last] {
		if p.Column == j {
			return p.Cost
		}
	}
	return 0
}

// exchange gives rivals each other's detections where that is likelier.
func (t *Tracker) exchange() {
	for i := range t.rivals {
		r := &t.rivals[i]
		if r.n == t.n { // the assignment has decided
			continue
		}
		a, b := r.a, r.b
		if b == nil {
			b = t.empty
		}
		is, other := t.follow(a, a, r.n)+t.follow(b, b, r.n), t.follow(a, b, r.n)+t.follow(b, a, r.n)
		if r.more = math.Inf(1); !math.IsInf(other, -1) {
			r.more = is - other
		}
		if r.more >= 0 {
			continue
		}
		r.more = -r.more
		if r.b == nil {
			b = t.fresh()
			t.enter(b)
			r.b = b
		}
		for m := r.n; m <= t.n; m++ {
			x, y := &a.at(m).sight, &b.at(m).sight
			*x, *y = *y, *x
			x.avoid(a.id, b.id)
			y.avoid(b.id, a.id)
		}
		t.again(a, r.n)
		t.again(b, r.n)
		a.turn(t.n, r.n)
		b.turn(t.n, r.n)
		for k := range t.rivals { // what came after happened to the other
			if q := &t.rivals[k]; q.n > r.n {
				q.a, q.b = turned(q.a, a, b), turned(q.b, a, b)
			}
		}
	}
}

// avoid keeps a track from being beside itself, once the other has become it.
func (o *sight) avoid(self, other uint64) {
	if o.beside == self {
		o.beside = other
	}
}

// turned is a for b, and b for a.
func turned(k, a, b *track) *track {
	switch k {
	case a:
		return b
	case b:
		return a
	}
	return k
}

// follow is the logarithm of how much likelier the detections of a tail from update n on are by the track head, as it was before, than by none. It is
// -∞ where the track would be over before the last of them.
func (t *Tracker) follow(head, tail *track, n int) float64 {
	s, begun, sum := &t.scratch, head.begunBefore(n), 0.0
	if begun {
		if head.over > 0 && head.over < n {
			return math.Inf(-1)
		}
		*s = head.at(n).before
	}
	for m := n; m <= t.n; m++ {
		o := &tail.at(m).sight
		switch {
		case !begun:
			if o.own() {
				s.begin(o, &t.population, &t.o)
				begun = true
			}
		case s.over():
			if o.own() {
				return math.Inf(-1)
			}
		default:
			if m > n {
				s.predict(t.clock[m%window].gap, &t.population)
			}
			gain, _ := s.take(o, &t.population, &t.o)
			sum += gain
		}
	}
	return sum
}

// begunBefore is whether the track had a detection before update n.
func (k *track) begunBefore(n int) bool { return k.born > 0 && k.born < n }

// again leads a track through what it has from update n on.
func (t *Tracker) again(k *track, n int) {
	begun, s := k.begunBefore(n), &k.state
	confirmed := s.confirmed
	if begun {
		*s = k.at(n).before
	} else {
		k.born = 0
	}
	k.over = 0
	for m := n; m <= t.n; m++ {
		at := k.at(m)
		detection := at.sight.detection
		switch {
		case begun:
			if m > n {
				s.predict(t.clock[m%window].gap, &t.population)
			}
			at.before = *s
			_, detection = s.take(&at.sight, &t.population, &t.o)
		case at.sight.own():
			s.begin(&at.sight, &t.population, &t.o)
			k.born, begun = m, true
		default:
			continue
		}
		s.confirmed = s.confirmed || confirmed
		at.point = s.point(k.id, t.clock[m%window].frame, detection)
		if s.over() {
			k.over = m
			return
		}
	}
	if !begun {
		k.over = t.n
	}
}

// doubt adds the odds of the other ways to the points of update m.
func (t *Tracker) doubt(m int) {
	for i := range t.rivals {
		r := &t.rivals[i]
		if r.n != m {
			continue
		}
		odds := math.Exp(-r.more)
		r.a.at(m).point.Doubt += odds
		if r.b != nil {
			r.b.at(m).point.Doubt += odds
		}
	}
}
