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
	window  = 8    // updates that are kept: of 500 vesicles, given perfectly, beta is 0.776 with 5, 0.792 with 8 and 0.787 with 12
	steps   = 4000 // that the rivals of an update may predict together; there are more only in a dense field of which frames are lost
	margin  = 6.0  // nats: what is less likely than one in 400 is no rival; 10 finds no more
	decided = 15.0 // nats from which two are rivals no longer: in 3,000 frames of a dense field nothing is decided otherwise than without it, with 12 something is
)

// rival is two tracks that may be each other from an update on.
type rival struct {
	a, b *track // b nil: a may have ended, and another begun
	n    int
	more float64 // how much likelier it is as it is, nats
	once float64 // the same, than with what update n had exchanged and all that came after as it is; of a tracker with a lag
	led  int     // exchanges there had been when its ways were led to the last update; 0, not yet
}

// ways are those of two rivals.
type ways struct {
	ab, ba way // a with what b had, and b with what a had
	aa, bb way // the same in update n, and each with its own since
}

// way is a track that goes on with what another had. A frame adds one step to it, until an exchange changes either track.
type way struct {
	state state
	gain  float64 // logarithm of how much likelier the detections are by it than by none
	begun bool
	lost  bool // it is over before the last of them
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
// has, or that are decided, are dropped.
func (t *Tracker) meet(match []int32) {
	before := 0
	for i := range t.rivals {
		if r := &t.rivals[i]; t.n-r.n < window-1 && r.more < decided {
			t.rivals[before], t.ways[before] = *r, t.ways[i]
			before++
		}
	}
	t.rivals = t.rivals[:before]
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
			t.rivals = append(t.rivals, rival{a: a, b: b, n: t.n, more: more, once: math.Inf(1)})
		}
	}
	t.nearest(before)
	t.ways = slices.Grow(t.ways[:before], len(t.rivals)-before)[:len(t.rivals)]
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
		w := &t.ways[i]
		t.lead(r, b, w)
		if w.ab.lost || w.ba.lost {
			r.more = math.Inf(1)
		} else {
			r.more = a.told(r.n) + b.told(r.n) - w.ab.gain - w.ba.gain
		}
		if r.once = math.Inf(1); t.o.Lag > 0 && !w.aa.lost && !w.bb.lost {
			r.once = max(a.told(r.n)+b.told(r.n)-w.aa.gain-w.bb.gain, 0)
		}
		if r.more >= 0 {
			continue
		}
		r.more, r.once = -r.more, math.Inf(1)
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
		t.exchanges++
		a.turn(t.n, r.n)
		b.turn(t.n, r.n)
		a.exchange, b.exchange = t.exchanges, t.exchanges
		for k := range t.rivals[i:] { // what came after happened to the other
			if q := &t.rivals[i+k]; q.n > r.n {
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

// lead brings both ways of a rival to this update; b is its other track.
func (t *Tracker) lead(r *rival, b *track, w *ways) {
	from := t.n
	if r.led == 0 || r.led < max(r.a.exchange, b.exchange) {
		from = r.n
		w.ab.start(r.a, r.n)
		w.ba.start(b, r.n)
		w.aa, w.bb = way{}, way{}
	}
	for m := from; m <= t.n; m++ {
		t.step(&w.ab, b, m, r.n)
		t.step(&w.ba, r.a, m, r.n)
		switch {
		case t.o.Lag == 0:
		case m == r.n:
			w.aa, w.bb = w.ab, w.ba
		default:
			t.step(&w.aa, r.a, m, r.n)
			t.step(&w.bb, b, m, r.n)
		}
	}
	r.led = t.exchanges
}

// start puts a way where a track was before update n.
func (w *way) start(head *track, n int) {
	*w = way{begun: head.begunBefore(n)}
	if w.begun {
		w.lost = head.over > 0 && head.over < n
		w.state = head.at(n).before
	}
}

// step adds to a way from update n on what another track had in update m.
func (t *Tracker) step(w *way, tail *track, m, n int) {
	o, s, then := &tail.at(m).sight, &w.state, &t.clock[m%window]
	switch {
	case w.lost:
	case !w.begun:
		if o.own() {
			s.begin(o, &then.population)
			w.begun = true
		}
	case s.over():
		w.lost = o.own()
	default:
		if m > n {
			s.predict(then.gap, &then.population)
		}
		gain, _ := s.take(o, &then.population, &t.o)
		w.gain += gain
	}
}

// told is how much likelier the detections of a track from update n on are by it than by none.
func (k *track) told(n int) float64 {
	if k.begunBefore(n) {
		return k.gain - k.at(n).gain
	}
	return k.gain
}

// begunBefore is whether the track had a detection before update n.
func (k *track) begunBefore(n int) bool { return k.born > 0 && k.born < n }

// again leads a track through what it has from update n on.
func (t *Tracker) again(k *track, n int) {
	begun, s := k.begunBefore(n), &k.state
	confirmed := s.confirmed
	if begun {
		*s, k.gain = k.at(n).before, k.at(n).gain
	} else {
		k.born, k.gain = 0, 0
	}
	k.over = 0
	for m := n; m <= t.n; m++ {
		at, then := k.at(m), &t.clock[m%window]
		detection := at.sight.detection
		switch {
		case begun:
			if m > n {
				s.predict(then.gap, &then.population)
			}
			at.before, at.gain = *s, k.gain
			gain := 0.0
			gain, detection = s.take(&at.sight, &then.population, &t.o)
			k.gain += gain
		case at.sight.own():
			s.begin(&at.sight, &then.population)
			k.born, begun = m, true
		default:
			continue
		}
		s.confirmed = s.confirmed || confirmed
		at.point = s.point(k.id, then.frame, detection)
		if s.over() {
			k.over = m
			return
		}
	}
	if !begun {
		k.over = t.n
	}
}

// doubt adds the odds of the other ways to the points of update m. After later updates those are two: that the rivals exchanged what they had from m on, or in m
// alone. Without the second one what comes later makes a doubt too small.
func (t *Tracker) doubt(m int) {
	for i := range t.rivals {
		r := &t.rivals[i]
		if r.n != m {
			continue
		}
		odds := math.Exp(-r.more)
		if m < t.n {
			odds += math.Exp(-r.once)
		}
		r.a.at(m).point.Doubt += odds
		if r.b != nil {
			r.b.at(m).point.Doubt += odds
		}
	}
}

// thirds sums the odds of ways that three tracks share in this update, for each: one has what the second had, the second what the third had, and the third
// what the first had, or nothing.
func (t *Tracker) thirds() {
	for i := range t.pairs {
		a, b := t.live[t.pairs[i].Row], t.owner[t.pairs[i].Column]
		if b == nil || a == b || b.born == t.n {
			continue
		}
		own := a.at(t.n).sight.detection
		first := t.pairs[i].Cost - t.cost(a, own) - t.cost(b, t.pairs[i].Column)
		for _, q := range t.pairs[b.first:b.last] {
			c := t.owner[q.Column]
			if c == nil || c == a || c == b {
				continue
			}
			more := first + q.Cost - t.cost(c, q.Column)
			if more < margin {
				odds := math.Exp(-more) // c has nothing
				a.at(t.n).sight.thirds += odds
				b.at(t.n).sight.thirds += odds
				c.at(t.n).sight.thirds += odds
			}
			if back := t.cost(c, own); back != 0 && more+back < margin { // the other two begin this ring, too
				a.at(t.n).sight.thirds += math.Exp(-more - back)
			}
		}
	}
}
