// Existence and assignment
//
// An object exists with a probability e (integrated probabilistic data association, Musicki, Evans and Stankovic 1994). For a detection with score s at x,
// the likelihoods are
//
//	with the track   e D p(x) f(s)                   D the probability of a detection, p the prediction, f the density of objects' scores
//	without it       c(s) + b f(s)  c the density of false maxima, b the density of births, px⁻²
//
// The assignment of a frame is the one with the greatest product of likelihood ratios (numbers.Solver). c is the density of maxima of a Gaussian field
// filtered by the template (Adler 1981), so no threshold decides which maxima count. The tracker estimates b, D, the death rate, f, and the laws of q, v and
// a from its own tracks, with forgetting.
//
// Several frames may pass between two updates: the gap in frame numbers, and the frames that Pass reports. In each frame of a gap, predictions widen and
// objects may end. b then counts all objects that began in the gap and still live. A step includes its number of frames, so a step over many frames gives the
// same estimate of q as a step over one.

package tracks

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"driftscope/internal/kit/numbers"
)

// Detection is one spot of a frame.
type Detection struct {
	X, Y       float64 // px
	VarX, VarY float64 // px²
	Score      float64 // amplitude over its standard deviation
	ID         uint64  // number of the object if the source knows it; otherwise 0 in all detections of the frame
}

// variance returns the variance of the position per axis.
func (d *Detection) variance() float64 { return max((d.VarX+d.VarY)/2, 1e-6) }

// Point is an object in a frame.
type Point struct {
	ID        uint64
	Frame     uint64
	X, Y      float64 // px
	SD        float64 // sd of the position, per axis, px
	Exists    float64 // probability that the object exists
	Confirmed bool    // Exists has been at least Options.Confirm
	Detection int     // index in the frame; Undetected if the position is predicted, or Merged
	Q         float64 // variance of a step, per axis, px²
	Directed  float64 // probability that the motion is directed
	Speed     float64 // of the directed motion, px/frame, and its standard deviation, per axis
	SpeedSD   float64
	Doubt     float64 // probability that the detection, or its absence, belongs to another track, see rivals.go
	Link      float64 // probability that the last point with a detection and this one show one object; NaN if unknown or if one of them is missing
	Exchanged bool    // the number continues another track from this update on: no step leads here from its last point
	With      uint64  // the track that this one is merged with or parts from in this frame; 0 if none
}

// Values of Point.Detection for a point without its own detection.
const (
	Undetected = -1
	Merged     = -2 // appears as one with a detected object
)

// Options sets up a tracker.
type Options struct {
	Width, Height float64 // of the picture, px
	Template      float64 // sd of the template, px
	Confirm       float64 // probability of existence from which a track is confirmed; 0 means DefaultConfirm
	Memory        float64 // memory of the diffusion of a track, in steps; 0 means DefaultMemory
	Lag           int     // delay of points in frames, 0 to MostLag; later frames improve the identities
}

// Defaults of Options, and bounds.
const (
	DefaultConfirm = 0.95
	DefaultMemory  = 50.0
	Open           = window     // updates after which an ended track can no longer come back
	MostLag        = window - 2 // the oldest frame of the window can no longer change
	mergedWithin   = 1.2        // sds of the template within which two objects appear as one
	mergedLeast    = 0.5        // probability from which an undetected track counts as merged
	forgotten      = 0.005      // probability of existence below which a track ends
	mostNear       = 16         // largest mean number of detections within the reach of a track; with more, the identity is undecidable
	mostGap        = 20         // updates without a detection after which a track ends; also the most frames predicted one by one
	mostFrames     = 1 << 20    // largest number of frames between two updates: hours
)

// Tracker follows every object of a field.
type Tracker struct {
	o          Options
	population population
	live       []*track // live tracks, and tracks that ended in the window
	free       []*track
	empty      *track // a track without a detection
	next       uint64 // next track number
	n          int    // updates
	clock      [window]instant
	unseen     int     // extra frames before the next update, besides the gap in frame numbers
	meanwhile  float64 // extra births in a gap of several frames before this update, px⁻²
	carried    place
	rivals     []rival
	exchanges  int     // exchanges so far, plus one
	ways       []ways  // of rivals
	sights     []sight // of the detections of the frame
	scratch    state
	solver     numbers.Solver
	joint      joint
	pairs      []numbers.Pair
	grid       numbers.Grid
	widest     float64  // distance within which there are mostNear detections on average, px
	owner      []*track // per detection
	points     []Point
	reported   int // update of the points reported last
	swaps      []Swap
	named      map[uint64]int32 // index of the detection with a number of the source
}

// instant describes one update.
type instant struct {
	frame      uint64
	gap        int        // frames since the previous update
	carried    place      // total carry so far
	population population // the population at that time
}

// place is a position in the picture, px.
type place struct{ x, y float64 }

// New returns an empty tracker.
func New(o Options) (*Tracker, error) {
	if o.Confirm == 0 {
		o.Confirm = DefaultConfirm
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if !(o.Width > 0 && o.Height > 0 && o.Template > 0) || !(o.Confirm > 0 && o.Confirm < 1) || !(o.Memory >= 1) || o.Lag < 0 || o.Lag > MostLag {
		return nil, fmt.Errorf("found a field of %gx%g px, a template of %g px, confirmation at %g, a memory of %g steps and a lag of %d, expected positive sizes, a probability above 0 and below 1, a memory of 1 or more, and a lag of 0 to %d: correct the value out of range",
			o.Width, o.Height, o.Template, o.Confirm, o.Memory, o.Lag, MostLag)
	}
	t := &Tracker{o: o, population: newPopulation(o.Template), grid: numbers.NewGrid(o.Width, o.Height, max(4, 4*o.Template)), next: 1, exchanges: 1, named: map[uint64]int32{}}
	t.empty = t.fresh()
	return t, nil
}

// Update takes the detections of a frame, whose number must exceed the previous one. It returns the objects of the frame Lag frames earlier. They are valid
// until the next call.
func (t *Tracker) Update(frame uint64, detections []Detection) []Point {
	gap := 1
	if t.n > 0 {
		gap = int(min(frame-t.clock[t.n%window].frame, mostFrames)) + t.unseen
	}
	spell := t.population.spell(gap)
	t.unseen, t.meanwhile = 0, (spell-1)*t.population.steady
	t.n++
	t.clock[t.n%window] = instant{frame, gap, t.carried, t.population}
	for i, k := range t.live {
		k.row = i
		k.at(t.n).sight = sight{detection: Undetected, births: t.meanwhile}
		if k.over == 0 {
			k.state.predict(gap, &t.population)
			k.at(t.n).before = k.state
		}
	}
	if len(detections) > 0 && detections[0].ID != 0 {
		t.name(detections)
	} else {
		t.assign(detections)
		t.exchange()
		t.link()
	}
	t.end()
	t.population.n.frames += spell - 1
	t.population.n.fade()
	t.population.speeds.fade()
	t.population.learn(t.o.Width * t.o.Height)
	return t.report(t.n - t.o.Lag)
}

// Crowding returns the factor by which the odds of a wrong link change at k times the frame interval. It equals the change of the area in which the next
// position is expected.
func (t *Tracker) Crowding(k float64) float64 {
	now, then := 0.0, 0.0
	for _, o := range t.live {
		if s, d := &o.state, &o.at(t.n).sight.d; s.confirmed && s.missed == 0 && o.over == 0 {
			place := s.motion.bp + d.variance()
			now, then = now+place+s.motion.spread(1, &t.population), then+place+s.motion.spread(k, &t.population)
		}
	}
	return then / now
}

// Pass announces lost frames before the next update, in addition to the gap in frame numbers, for example while a camera was disconnected.
func (t *Tracker) Pass(frames int) { t.unseen = min(max(frames, 0), mostFrames) }

// Flush calls each for the frames that the lag still holds back. Points are valid only during the call. Do not use the tracker after it.
func (t *Tracker) Flush(each func(frame uint64, points []Point)) {
	for m := max(1, t.n-t.o.Lag+1); m <= t.n; m++ {
		each(t.clock[m%window].frame, t.report(m))
	}
}

// assign pairs tracks with detections, and updates both.
func (t *Tracker) assign(detections []Detection) {
	p := &t.population
	t.grid.Clear()
	t.sights = t.sights[:0]
	for j := range detections {
		t.sights = append(t.sights, t.sighted(j, &detections[j]))
		t.grid.Add(int32(j), detections[j].X, detections[j].Y)
	}
	t.widest = math.Sqrt(mostNear * t.o.Width * t.o.Height / (math.Pi * float64(max(len(detections), 1))))
	t.pairs = t.pairs[:0]
	for i, k := range t.live {
		k.first, k.last = len(t.pairs), len(t.pairs)
		if k.over > 0 {
			continue
		}
		m := &k.state.motion
		missing := 1 - k.state.exists*p.detected
		b, d, f := m.reach(0.1, p)
		far := max(b, f+math.Hypot(m.fx-m.bx, m.fy-m.by), d+math.Hypot(m.dx-m.bx, m.dy-m.by))
		k.short = far > t.widest
		t.near(m.bx, m.by, far, detections, func(j int) {
			x, y := detections[j].X, detections[j].Y
			if near(x-m.bx, y-m.by, b) || near(x-m.dx, y-m.dy, d) || near(x-m.fx, y-m.fy, f) {
				t.pair(i, j, missing)
			}
		})
		k.last = len(t.pairs)
	}
	match := t.solver.Solve(len(t.live), len(detections), t.pairs)
	t.owner = slices.Grow(t.owner[:0], len(detections))[:len(detections)]
	clear(t.owner)
	for i, k := range t.live {
		if j := match[i]; j >= 0 {
			t.owner[j] = k
			t.hit(k, &t.sights[j])
		}
	}
	for i, k := range t.live {
		if match[i] < 0 && k.over == 0 {
			t.miss(k, detections)
		}
	}
	t.births(detections)
	t.meet(match)
	t.marginals(len(match))
}

// near reports whether (x, y) lies within reach of the origin.
func near(x, y, reach float64) bool { return x*x+y*y <= reach*reach }

// near calls visit for every detection within reach of (x, y), or within t.widest if t.widest is smaller.
func (t *Tracker) near(x, y, reach float64, detections []Detection, visit func(j int)) {
	reach = min(reach, t.widest)
	t.grid.Near(x, y, reach, func(j int32) {
		if near(detections[j].X-x, detections[j].Y-y, reach) {
			visit(int(j))
		}
	})
}

// pair offers detection j to track i. The cost is the negative log likelihood ratio of together against apart.
func (t *Tracker) pair(i, j int, missing float64) {
	k, o, p := &t.live[i].state, &t.sights[j], &t.population
	density := k.motion.density(&o.d, p)
	together := k.exists * p.detected * density * o.object
	apart := missing * (o.clutter + (p.births+o.births)*o.object)
	if cost := math.Log(apart / together); cost < margin { // pairs with a cost of 0 or more serve only to find rivals
		t.pairs = append(t.pairs, numbers.Pair{Row: i, Column: j, Cost: cost})
	}
}

// hit assigns a detection to a track and updates the counts.
func (t *Tracker) hit(k *track, o *sight) {
	n, s := &t.population.n, &k.state
	confirmed := s.confirmed
	if confirmed {
		n.hits++
		n.lives += float64(s.ago)
		n.gaps += float64(s.missed)
		n.scores, n.squares, n.scored = n.scores+o.d.Score, n.squares+o.d.Score*o.d.Score, n.scored+1
	}
	steady := (confirmed || s.motion.seen == 1) && s.ago == 1
	runs := 0.0
	if steady {
		w := s.motion.weigh(&o.d, &t.population)
		t.population.steer(&s.motion, &w)
		runs = w.runs() / w.all
	}
	t.take(k, *o)
	if runs > 0.3 && s.confirmed && s.hits > 5 {
		t.population.speeds.add(math.Hypot(s.motion.vx, s.motion.vy), 0.3*runs)
	}
	if s.confirmed && !confirmed {
		n.began++
		if k.born == 1 {
			n.found++
		}
	}
}

// miss updates a track without a detection of its own. The track may be merged with the likeliest detection of another track.
func (t *Tracker) miss(k *track, detections []Detection) {
	o := sight{detection: Undetected, births: t.meanwhile}
	m := &k.state.motion
	b, _, _ := m.reach(0.1, &t.population)
	most := 0.0
	t.near(m.bx, m.by, b, detections, func(j int) {
		if t.owner[j] == nil {
			return
		}
		if density := m.density(&detections[j], &t.population); density > most {
			most, o.d, o.beside = density, detections[j], t.owner[j].id
		}
	})
	t.take(k, o)
}

// take records the sight of a track in this frame.
func (t *Tracker) take(k *track, o sight) {
	at := k.at(t.n)
	at.sight = o
	at.gain = k.gain
	gain, detection := k.state.take(&at.sight, &t.population, &t.o)
	k.gain += gain
	at.point = k.state.point(k.id, t.clock[t.n%window].frame, detection)
}

// end removes tracks that ended before the window, and counts them.
func (t *Tracker) end() {
	n := &t.population.n
	n.frames++
	kept := t.live[:0]
	for _, k := range t.live {
		if k.over == 0 && k.state.over() {
			k.over = t.n
		}
		if k.over == 0 || t.n-k.over < window {
			kept = append(kept, k)
			continue
		}
		if k.state.confirmed && k.born > 0 {
			n.ends++
			t.learn(&k.state)
		}
		t.free = append(t.free, k)
	}
	t.live = kept
}

// learn adds the motion of a track to the population.
func (t *Tracker) learn(k *state) {
	if k.hits < 5 {
		return
	}
	n, m := &t.population.n, &k.motion
	if w := 1 - m.directed; w > 0.5 && m.steps > 3 {
		l := math.Log(m.sum/m.steps) + 0.5/m.steps
		n.logs, n.logSquares, n.logNoise, n.logged = n.logs+l, n.logSquares+l*l, n.logNoise+1/m.steps, n.logged+1
	}
}

// births begins a track at every free detection that is likely enough to be an object.
func (t *Tracker) births(detections []Detection) {
	for j := range detections {
		if t.owner[j] != nil {
			continue
		}
		t.scratch.begin(&t.sights[j], &t.population)
		if t.scratch.exists < forgotten/4 {
			continue
		}
		k := t.fresh()
		if id := detections[j].ID; id != 0 {
			k.id, t.next = id, max(t.next, id)
		}
		k.state, k.born = t.scratch, t.n
		k.at(t.n).sight = t.sights[j]
		k.at(t.n).point = k.state.point(k.id, t.clock[t.n%window].frame, j)
		t.owner[j] = k
		t.enter(k)
	}
}

// report lists the tracks alive in update m.
func (t *Tracker) report(m int) []Point {
	t.points, t.reported = t.points[:0], m
	if m < 1 {
		return t.points
	}
	t.doubt(m)
	back := place{t.carried.x - t.clock[m%window].carried.x, t.carried.y - t.clock[m%window].carried.y}
	for _, k := range t.live {
		if k.born == 0 || m < k.born || k.over > 0 && m >= k.over {
			continue
		}
		p := k.at(m).point
		p.Confirmed = k.state.confirmed
		p.Exchanged = k.turned == t.n && k.from < m
		p.Link, p.Doubt = t.linked(k, m, p.Exchanged)
		p.X, p.Y = p.X-back.x, p.Y-back.y
		t.points = append(t.points, p)
	}
	slices.SortFunc(t.points, func(a, b Point) int { return cmp.Compare(a.ID, b.ID) })
	return t.points
}
