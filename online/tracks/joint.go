// Links
//
// The Link of a point is the probability that this point and the track's last point with a detection belong to one object. In the newest frame it is a sum
// over all joint assignments of the frame, and over the alternative pasts of each track. After later frames it is 1/(1+o), where o sums the likelihoods of
// the alternatives over the likelihood of the current assignment. An alternative exchanges the detections of the track and one rival, from this frame on or
// in this frame only. Doubt is 1 - Link, but after an exchange it concerns the point, not the step. Neither covers errors of the motion models.

package tracks

import (
	"math"

	"driftscope/internal/kit/numbers"
)

// The probability that track i has detection j is
//
//	P(i, j) = Σ_A∋(i,j) Π w / Σ_A Π w      A: an assignment: at most one track per detection and at most one detection per track
//
// The weight of a pair is w(i, j) = e D p(x) f(s) / ((1 - e D) (c(s) + b f(s))), see tracker.go. If the track has rivals, numerator and denominator are sums
// over its own past and the rivals' pasts, weighted by their odds. Tracks that share detections form a group. A forward and a backward pass over the tracks
// of a group compute its sums. A detection is open between the first and the last track that can have it. The state of a pass is the set of open detections
// that are taken.

// Bounds on the sums over joint assignments. A group that exceeds them has unknown probabilities.
const (
	openMost  = 12      // largest number of open detections: 4,096 states
	groupMost = 200     // largest number of tracks of a group
	waysMost  = 1 << 15 // largest number of states of a group, summed over its tracks
	waysEach  = 256     // largest number of states times pairs of a frame, per track
	pastsMost = 3.0     // log odds up to which a rival's past counts, nats
)

// thin are weights below which a pair is dropped. The weight bounds the likelihood of every assignment with the pair, relative to the best assignment. The
// second threshold is for groups that exceed the bounds.
var thin = [...]float64{1e-3, 1e-2}

// joint sums over all assignments of the tracks and detections of a frame. Its memory is reused.
type joint struct {
	edges   []edge
	mixed   []float64 // by pair: the addition to its likelihood ratio by the alternative pasts of its track
	rows    []jointRow
	columns []jointColumn
	up      []int32   // by row: parent in the union-find forest of rows that share detections
	order   []int32   // the rows of a group in the order of the passes
	sums    []float64 // by row of the group and state: sum over all assignments of the rows before
	back    []float64 // by state: sum over all assignments of the rows after
	spent   int       // states times edges so far in this frame
}

// edge is a pair that is not dropped. Its weight is relative to the best assignment.
type edge struct {
	column int32
	bit    uint32 // bit of the column
	weight float64
	share  float64 // probability
}

// jointRow is a track.
type jointRow struct {
	first, last int32   // its edges are edges[first:last]
	next        int32   // next row of the same group, -1 at the end
	alone       float64 // weight of no detection
	share       float64 // probability of no detection
	begin       int32   // index of its sums in joint.sums
	size, open  int32   // number of states before this row, and with its own detections
	retired     uint32  // bits of detections that no later row can have
}

// jointColumn is a detection.
type jointColumn struct {
	row   int32   // one of the rows that can have it
	rows  int32   // number of later rows that can have it
	bit   uint32  // its bit in a state; 0 before the first row that can have it
	alone float64 // weight of no track
}

// mix adds to the pairs of a track their likelihood ratios under a rival's past. odds is the likelihood of this past relative to the track's own.
func (t *Tracker) mix(k *track, other *way, odds float64) {
	if k.over > 0 || !other.begun || other.lost || other.state.over() {
		return
	}
	h, p := &t.scratch, &t.population
	*h = other.state
	h.predict(t.clock[t.n%window].gap, p)
	missing := 1 - k.at(t.n).before.exists*p.detected
	t.joint.rows[k.row].alone += odds * (1 - h.exists*p.detected) / missing
	for i := k.first; i < k.last; i++ {
		o := &t.sights[t.pairs[i].Column]
		t.joint.mixed[i] += odds * h.exists * p.detected * h.motion.density(&o.d, p) * o.object / (missing * (o.clutter + (p.births+o.births)*o.object))
	}
}

// marginals computes the probability of every pair, given the frames so far: the summed weight of all joint assignments with the pair, divided by the summed
// weight of all. With the solver's prices, the weight of a pair is exp(-reduced cost), and the best assignment has weight 1.
func (t *Tracker) marginals(rows int) {
	s := &t.joint
	prices, columns := t.solver.Prices()
	s.edges, s.up = s.edges[:0], s.up[:0]
	s.mixed, s.rows = numbers.Zeroed(s.mixed, len(t.pairs)), numbers.Zeroed(s.rows, rows)
	for i := range t.rivals {
		if r := &t.rivals[i]; r.n < t.n && r.more < pastsMost && r.led >= r.a.exchange && (r.b == nil || r.led >= r.b.exchange) {
			odds := math.Exp(-r.more)
			if t.mix(r.a, &t.ways[i].ba, odds); r.b != nil {
				t.mix(r.b, &t.ways[i].ab, odds)
			}
		}
	}
	s.columns = numbers.Zeroed(s.columns, len(columns))
	for i, k := range t.live[:rows] {
		r := &s.rows[i]
		r.first, r.next, r.alone = int32(len(s.edges)), -1, (1+r.alone)*math.Exp(prices[i])
		s.up = append(s.up, int32(i))
		for j := k.first; j < k.last; j++ {
			p := &t.pairs[j]
			v := columns[p.Column]
			more := p.Cost - prices[i] - v
			weight := math.Exp(-more)
			if s.mixed[j] > 0 {
				weight += s.mixed[j] * math.Exp(prices[i]+v)
			}
			if weight < thin[0] {
				continue
			}
			s.edges = append(s.edges, edge{column: int32(p.Column), weight: weight})
			c := &s.columns[p.Column]
			if c.rows++; c.rows == 1 {
				c.row, c.alone = int32(i), math.Exp(v)
			} else {
				s.up[s.root(int32(i))] = s.root(c.row)
			}
		}
		r.last = int32(len(s.edges))
	}
	for i := rows - 1; i >= 0; i-- { // link the rows of each group, beginning at its root
		if root := s.root(int32(i)); root != int32(i) {
			s.rows[i].next, s.rows[root].next = s.rows[root].next, int32(i)
		}
	}
	s.spent = 0
	for i, k := range t.live[:rows] {
		if s.up[i] == int32(i) && k.over == 0 {
			s.sum(int32(i), rows*waysEach)
		}
	}
}

// linked returns the Link and the Doubt of a point of update m. In the newest update both come from the sums over joint assignments. After later updates,
// or if the sums are unknown, they come from rivals.
func (t *Tracker) linked(k *track, m int, exchanged bool) (link, doubt float64) {
	at := k.at(m)
	link, doubt = at.link, at.point.Doubt/(1+at.point.Doubt)
	switch {
	case math.IsNaN(link):
	case m < t.n:
		link = 1 - doubt
	case k.turned < t.n:
		doubt = 1 - link
	}
	if at.sight.detection < 0 || m == k.born && !exchanged || m < t.n && exchanged {
		link = math.NaN()
	}
	return link, doubt
}

// link records, for each track, the probability of its detection, or of none, in this update.
func (t *Tracker) link() {
	for _, k := range t.live {
		at := k.at(t.n)
		if at.link = k.link; k.turned < t.n {
			at.link = t.has(k, at.sight.detection)
		}
	}
}

// has returns the probability that detection j, or none if j is below 0, shows the object of a track: the track has j alone, or another track has j and both
// appear as one. The sums count the second case as a miss, so has multiplies its weight by (m + (1-m) (1-D))/(1-D), where m is the probability that the two
// objects are close enough to appear as one.
func (t *Tracker) has(k *track, j int) float64 {
	link, taken := t.joint.link(k, j)
	if taken > 0 {
		_, merged := k.at(t.n).before.beside(t.sights[j].d, &t.population, &t.o)
		q := taken * merged / (1 - t.population.detected)
		link = (link + q) / (1 + q*t.population.detected)
	}
	return link
}

// link returns the probability that a track has detection j, or none if j is below 0. taken is the probability that another track has j and this track has
// none; it follows because each assignment with the pair has a counterpart in which both are free. link is NaN if unknown: if the sums are, if detections
// within reach were left out, or if the track began in this frame.
func (s *joint) link(k *track, j int) (link, taken float64) {
	if k.row >= len(s.rows) || k.short {
		return math.NaN(), 0
	}
	r := &s.rows[k.row]
	for _, e := range s.edges[r.first:r.last] {
		if int(e.column) == j {
			return e.share, r.share - e.share*r.alone*s.columns[j].alone/e.weight
		}
	}
	if j < 0 {
		return r.share, 0
	}
	return 0 * r.share, 0 // negligible, or unknown
}

func (s *joint) root(i int32) int32 {
	for s.up[i] != i {
		s.up[i] = s.up[s.up[i]]
		i = s.up[i]
	}
	return i
}

// sum computes the probabilities of a group by a forward and a backward pass over its tracks. The states of the passes are the sets of open detections that
// are taken.
func (s *joint) sum(root int32, most int) {
	if !s.plan(root, most, thin[0]) && !s.plan(root, most, thin[1]) {
		for i := root; i >= 0; i = s.rows[i].next {
			r := &s.rows[i]
			r.share = math.NaN()
			for e := r.first; e < r.last; e++ {
				s.edges[e].share = math.NaN()
			}
		}
		return
	}
	s.sums[0] = 1
	for at, i := range s.order {
		r := &s.rows[i]
		s.back = numbers.Zeroed(s.back, int(r.open))
		g := s.back
		for mask, v := range s.sums[r.begin : r.begin+r.size] {
			if v == 0 {
				continue
			}
			g[mask] += v * r.alone
			for e := r.first; e < r.last; e++ {
				if bit := s.edges[e].bit; uint32(mask)&bit == 0 {
					g[uint32(mask)|bit] += v * s.edges[e].weight
				}
			}
		}
		for e := r.first; e < r.last; e++ {
			if bit := s.edges[e].bit; r.retired&bit != 0 {
				alone := s.columns[s.edges[e].column].alone
				for mask := range g {
					if uint32(mask)&bit == 0 {
						g[mask] = g[mask]*alone + g[uint32(mask)|bit]
						g[uint32(mask)|bit] = 0
					}
				}
			}
		}
		if at+1 < len(s.order) {
			next := &s.rows[s.order[at+1]]
			copy(s.sums[next.begin:next.begin+next.size], g)
		}
	}
	s.back = append(s.back[:0], 1)
	for at := len(s.order) - 1; at >= 0; at-- {
		r := &s.rows[s.order[at]]
		for len(s.back) < int(r.open) {
			s.back = append(s.back, 0)
		}
		g := s.back[:r.open]
		for e := r.last - 1; e >= r.first; e-- {
			if bit := s.edges[e].bit; r.retired&bit != 0 {
				alone := s.columns[s.edges[e].column].alone
				for mask := range g {
					if uint32(mask)&bit == 0 {
						g[uint32(mask)|bit] = g[mask]
						g[mask] *= alone
					}
				}
			}
		}
		f := s.sums[r.begin : r.begin+r.size]
		r.share = 0
		for mask, v := range f {
			alone := r.alone * g[mask]
			r.share += v * alone
			for e := r.first; e < r.last; e++ {
				if bit := s.edges[e].bit; uint32(mask)&bit == 0 {
					with := s.edges[e].weight * g[uint32(mask)|bit]
					s.edges[e].share += v * with
					alone += with
				}
			}
			g[mask] = alone
		}
		s.back = s.back[:r.size]
	}
	all := s.back[0]
	if math.IsInf(all, 1) { // unknown
		all = math.NaN()
	}
	for _, i := range s.order {
		r := &s.rows[i]
		r.share /= all
		for e := r.first; e < r.last; e++ {
			s.edges[e].share /= all
		}
	}
}

// plan orders the tracks of a group so that few detections are open at once, and assigns the ranges of their sums. It drops pairs whose weight is below
// least, and reports whether the sums are within the bounds.
func (s *joint) plan(root int32, most int, least float64) bool {
	s.order = s.order[:0]
	for i := root; i >= 0; i = s.rows[i].next {
		if s.order = append(s.order, i); len(s.order) > groupMost {
			return false
		}
		r := &s.rows[i]
		for e := r.first; e < r.last; e++ {
			s.columns[s.edges[e].column].bit, s.columns[s.edges[e].column].rows = 0, 0
		}
	}
	for _, i := range s.order {
		r := &s.rows[i]
		kept := r.first
		for e := r.first; e < r.last; e++ {
			if s.edges[e].weight >= least {
				s.columns[s.edges[e].column].rows++
				s.edges[kept] = s.edges[e]
				kept++
			}
		}
		r.last = kept
	}
	open, size := uint32(0), 1 // open bits
	begin := 0
	for at := range s.order {
		best, fewest := at, math.MaxInt
		for k := at; k < len(s.order); k++ { // the track that leaves the fewest detections open
			r, more, touches := &s.rows[s.order[k]], 0, false
			for e := r.first; e < r.last; e++ {
				c := &s.columns[s.edges[e].column]
				if touches = touches || c.bit != 0; c.bit == 0 {
					more++
				}
				if c.rows == 1 {
					more--
				}
			}
			if !touches {
				more += openMost
			}
			if more < fewest {
				best, fewest = k, more
			}
		}
		s.order[at], s.order[best] = s.order[best], s.order[at]
		r := &s.rows[s.order[at]]
		r.begin, r.size, r.retired = int32(begin), int32(size), 0
		begin += size
		for e := r.first; e < r.last; e++ {
			c := &s.columns[s.edges[e].column]
			if c.bit == 0 {
				c.bit = ^open & (open + 1)
				open |= c.bit
			}
			s.edges[e].bit = c.bit
			if c.rows--; c.rows == 0 {
				r.retired |= c.bit
			}
		}
		for size = 1; size <= int(open); size *= 2 {
		}
		if r.open = int32(size); size > 1<<openMost {
			return false
		}
		s.spent += size * int(r.last-r.first+1)
		if begin+size > waysMost || s.spent > most {
			return false
		}
		open &^= r.retired
		for size = 1; size <= int(open); size *= 2 {
		}
	}
	if len(s.sums) < begin+size {
		s.sums = append(s.sums, make([]float64, begin+size-len(s.sums))...)
	}
	return true
}
