// Exchanges
//
// The assignments of the last frames can still change. Two tracks are rivals from a frame on if they may have swapped identities there, or if one may have
// ended while another began. Every new frame compares the likelihood of the detections since then with their likelihood after a swap. If the swap is
// likelier, the tracks exchange these detections. A way, the continuation after a swap, has its own states, and a frame adds one step to it. Only an exchange
// replays the motions, with the population known in each frame. Without a lag, published points are not corrected: after an exchange a number jumps to the
// other object. With a lag, points are published later, so fewer are wrong.

package tracks

import (
	"cmp"
	"math"
	"slices"
)

const (
	window  = 8    // updates in the window; on 500 vesicles with exact detections, beta is 0.776 with 5, 0.792 with 8 and 0.787 with 12
	steps   = 4000 // largest number of predictions for the rivals of one update; only a dense field with lost frames reaches it
	margin  = 6.0  // nats: swaps with odds below 1 in 400 are ignored; 10 nats give no further improvement
	decided = 15.0 // nats at which two tracks stop being rivals; in 3,000 frames of a dense field 15 changes no decision, 12 changes some
)

// rival is a pair of tracks that may be exchanged from an update on.
type rival struct {
	a, b *track // nil b: a may have ended, and a new track begun
	n    int
	more float64 // log odds of the current assignment against the swap, nats
	once float64 // log odds against a swap in update n alone; only with a lag
	led  int     // value of Tracker.exchanges when the ways were last updated; 0 before that
}

// ways are the alternatives for two rivals.
type ways struct {
	ab, ba way // a with the detections of b, and b with the detections of a, from update n on
	aa, bb way // a swap in update n alone: then each track with its own detections
}

// way is a track that continues with the detections of another track. A frame adds one step to it, until an exchange changes either track.
type way struct {
	state state
	gain  float64 // log likelihood ratio of the detections, with and without the way
	begun bool
	lost  bool // it ended before its last detection
}

// fresh returns a track without a detection. It reuses the memory of an ended track.
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

// enter adds a track to the live ones.
func (t *Tracker) enter(k *track) {
	k.row, k.first, k.last = len(t.live), 0, 0
	t.live = append(t.live, k)
	t.next++
}

// meet lists the rivals of this update: pairs of tracks whose swapped assignment costs little more. It drops older rivals that left the window or are
// decided.
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
				if back != 0 && b.row < a.row { // the pair of b has already added these rivals
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

// nearest drops all but the likeliest swaps of this update, from index from on, within the bound steps.
func (t *Tracker) nearest(from int) {
	all := t.rivals[from:]
	most := steps / min(t.clock[t.n%window].gap, mostGap)
	if len(all) <= most {
		return
	}
	slices.SortStableFunc(all, func(a, b rival) int { return cmp.Compare(a.more, b.more) })
	t.rivals = t.rivals[:from+most]
}

// cost returns the cost of the pair of a track and detection j, or 0 without such a pair.
func (t *Tracker) cost(k *track, j int) float64 {
	for _, p := range t.pairs[k.first:k.last] {
		if p.Column == j {
			return p.Cost
		}
	}
	return 0
}

// exchange swaps the detections of rivals if the swap is likelier.
func (t *Tracker) exchange() {
	for i := range t.rivals {
		r := &t.rivals[i]
		if r.n == t.n { // the assignment of this update has decided
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
		a.link, b.link = t.relinked(a, b, r), t.relinked(b, a, r)
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
		for k := range t.rivals[i:] { // later rivals refer to the other track
			if q := &t.rivals[i+k]; q.n > r.n {
				q.a, q.b = turned(q.a, a, b), turned(q.b, a, b)
			}
		}
	}
}

// avoid prevents a track from being merged with itself after an exchange.
func (o *sight) avoid(self, other uint64) {
	if o.beside == self {
		o.beside = other
	}
}

// turned swaps a and b.
func turned(k, a, b *track) *track {
	switch k {
	case a:
		return b
	case b:
		return a
	}
	return k
}

// lead extends the ways of a rival to this update; b is the rival's second track.
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

// start sets a way to the state of a track before update n.
func (w *way) start(head *track, n int) {
	*w = way{begun: head.begunBefore(n)}
	if w.begun {
		w.lost = head.over > 0 && head.over < n
		w.state = head.at(n).before
	}
}

// step adds the sight of the track tail in update m to a way that starts at update n.
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

// told returns the log likelihood ratio of the detections of a track from update n on, with and without the track.
func (k *track) told(n int) float64 {
	if k.begunBefore(n) {
		return k.gain - k.at(n).gain
	}
	return k.gain
}

// begunBefore reports whether the track had a detection before update n.
func (k *track) begunBefore(n int) bool { return k.born > 0 && k.born < n }

// again replays a track from update n on.
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

// relinked returns the probability of the link from the last published point of a to its point in this update, which b had until the exchange of r. r.more is
// the log odds of the exchange. If a had detections since r.n, they belong to b now, and the link is right only if the two swap in this frame. Otherwise the
// link is right if the exchange is. The probability is unknown after a second exchange in the update, or if b was detected after the last detection of a.
func (t *Tracker) relinked(a, b *track, r *rival) float64 {
	if a.turned == t.n || b.turned == t.n {
		return math.NaN()
	}
	j, later := b.at(t.n).sight.detection, false
	for m := t.n - 1; m >= r.n; m-- {
		switch {
		case !a.at(m).sight.own():
			later = later || b.at(m).sight.own()
		case later:
			return math.NaN()
		default:
			return t.has(a, j)
		}
	}
	p := 1 / (1 + math.Exp(-r.more))
	if b.begunBefore(t.n) {
		p *= t.has(b, j)
	}
	return p
}

// Swap is a pair of confirmed objects that may have exchanged their numbers.
type Swap struct {
	A, B  uint64  // A < B
	Since uint64  // first frame in which the numbers would be exchanged
	P     float64 // probability
}

// Swaps lists the pairs that may have exchanged their numbers in a frame of the window up to the last reported one, with a probability of at least least. The
// list is valid until the next call. It lacks pairs of the newest frame: their alternatives may leave one track without a detection.
func (t *Tracker) Swaps(least float64) []Swap {
	t.swaps = t.swaps[:0]
	for i := range t.rivals {
		r := &t.rivals[i]
		if a, b := r.a, r.b; t.n-r.n < window && r.n < t.n && r.n <= t.reported && b != nil && a.over == 0 && b.over == 0 && a.state.confirmed && b.state.confirmed && a.begunBefore(r.n) && b.begunBefore(r.n) {
			if p := 1 / (1 + math.Exp(r.more)); p >= least {
				t.swaps = append(t.swaps, Swap{min(a.id, b.id), max(a.id, b.id), t.clock[r.n%window].frame, p})
			}
		}
	}
	slices.SortFunc(t.swaps, func(a, b Swap) int {
		return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B), cmp.Compare(b.P, a.P))
	})
	t.swaps = slices.CompactFunc(t.swaps, func(a, b Swap) bool { return a.A == b.A && a.B == b.B }) // one entry per pair: its likeliest frame
	return t.swaps
}

// doubt sums the odds of the alternatives for the points of update m. After later updates there are two per rival: an exchange of all detections from m on,
// or only of the detections in m. Without the second, later frames would make a doubt too small.
func (t *Tracker) doubt(m int) {
	for _, k := range t.live {
		k.at(m).point.Doubt = 0
	}
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
