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
	Score      float64 // the amplitude over its standard deviation
}

// variance is the place's, an axis.
func (d *Detection) variance() float64 { return max((d.VarX+d.VarY)/2, 1e-6) }

// Point is an object in a frame.
type Point struct {
	ID        uint64
	Frame     uint64
	X, Y      float64 // px
	SD        float64 // of the place, an axis, px
	Exists    float64 // probability that the object is one
	Confirmed bool    // that probability has been above Options.Confirm
	Detection int     // of the frame; Undetected, where the place is predicted, or Merged
	Q         float64 // variance of a step, an axis, px²
	Directed  float64 // probability that the motion is directed
	Speed     float64 // of the directed motion, px a frame, and its standard deviation, an axis
	SpeedSD   float64
	Doubt     float64 // probability that the frame's detection, or its having none, belongs to another track: of the rivals alone, see doc.go
	Exchanged bool    // it goes on with what another track had, from this update on: no step leads here from its last point
	With      uint64  // the track that it is merged with or has parted from in this frame; 0, none
}

// What a Point's Detection is where the object has none of its own.
const (
	Undetected = -1
	Merged     = -2 // it is seen as one with another object, which was detected
)

// Options say what a tracker is for.
type Options struct {
	Width, Height float64 // of the picture, px
	Template      float64 // sd of the template, px
	Confirm       float64 // probability of existence from which a track is reported; DefaultConfirm
	Memory        float64 // steps that a track's diffusion remembers; DefaultMemory
	Lag           int     // frames by which points come later, so that those between decide too; 0 to MostLag
}

// The defaults of Options.
const (
	DefaultConfirm = 0.95
	DefaultMemory  = 50.0
	Open           = window     // updates after which a track that has ended does not come back
	MostLag        = window - 2 // the frame at the window's far end is no longer decided
	mergedWithin   = 1.2        // sds of the template within which two objects are seen as one
	mergedLeast    = 0.5        // probability from which a track that is not detected is taken for merged
	forgotten      = 0.005      // probability of existence below which a track ends
	mostNear       = 16         // detections, on average, within the reach of a track: where it may be any of more, nobody knows which it is
	mostGap        = 20         // updates without a detection after which one ends, and frames that are predicted one by one
	mostFrames     = 1 << 20    // that may pass between two updates: hours
)

// Tracker follows every object of a field.
type Tracker struct {
	o          Options
	population population
	live       []*track // and those that ended in the window
	free       []*track
	empty      *track // without a detection
	next       uint64 // identity
	n          int    // updates
	clock      [window]instant
	unseen     int     // frames that pass before the next, beside those that its number leaves out
	meanwhile  float64 // births that come with this update beside those of one frame, px⁻²
	carried    place
	rivals     []rival
	exchanges  int     // so far, and one
	ways       []ways  // of the rivals
	sights     []sight // of the frame's detections
	scratch    state
	solver     numbers.Solver
	pairs      []numbers.Pair
	grid       numbers.Grid
	widest     float64  // px within which there are mostNear detections on average
	owner      []*track // a detection
	points     []Point
}

// instant is when an update was.
type instant struct {
	frame      uint64
	gap        int        // frames since the one before
	carried    place      // by then
	population population // as it was known then
}

// place is a point of the picture, px.
type place struct{ x, y float64 }

// New is a tracker that has seen nothing.
func New(o Options) (*Tracker, error) {
	if o.Confirm == 0 {
		o.Confirm = DefaultConfirm
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if !(o.Width > 0 && o.Height > 0 && o.Template > 0) || !(o.Confirm > 0 && o.Confirm < 1) || !(o.Memory >= 1) || o.Lag < 0 || o.Lag > MostLag {
		return nil, fmt.Errorf("a field of %gx%g px, a template of %g px, confirmation at %g, a memory of %g steps, a lag of %d: expected positive numbers, a probability, and a lag of 0 to %d",
			o.Width, o.Height, o.Template, o.Confirm, o.Memory, o.Lag, MostLag)
	}
	t := &Tracker{o: o, population: newPopulation(o.Template), grid: numbers.NewGrid(o.Width, o.Height, max(4, 4*o.Template)), next: 1, exchanges: 1}
	t.empty = t.fresh()
	return t, nil
}

// Update takes in the detections of a frame, of which the number is larger than the one before. It returns the objects there now, or Lag frames ago,
// valid until the next call.
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
	t.assign(detections)
	t.exchange()
	t.end()
	t.population.n.frames += spell - 1
	t.population.n.fade()
	t.population.speeds.fade()
	t.population.learn(t.o.Width * t.o.Height)
	return t.report(t.n - t.o.Lag)
}

// Pass tells that some frames pass before the next, beside those that its number leaves out: as of a camera that was lost.
func (t *Tracker) Pass(frames int) { t.unseen = min(max(frames, 0), mostFrames) }

// Flush gives what a lag has held back, frame by frame; points are valid during the call alone. A tracker is at its end then.
func (t *Tracker) Flush(each func(frame uint64, points []Point)) {
	for m := max(1, t.n-t.o.Lag+1); m <= t.n; m++ {
		each(t.clock[m%window].frame, t.report(m))
	}
}

// assign pairs tracks with detections, and takes in what follows for each.
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
	t.thirds()
}

// near is whether a place lies within reach of the origin.
func near(x, y, reach float64) bool { return x*x+y*y <= reach*reach }

// near calls visit for every detection within reach of a place, or the widest where many are.
func (t *Tracker) near(x, y, reach float64, detections []Detection, visit func(j int)) {
	reach = min(reach, t.widest)
	t.grid.Near(x, y, reach, func(j int32) {
		if near(detections[j].X-x, detections[j].Y-y, reach) {
			visit(int(j))
		}
	})
}

// pair offers track i detection j, at the negative logarithm of how much more likely they are together.
func (t *Tracker) pair(i, j int, missing float64) {
	k, o, p := &t.live[i].state, &t.sights[j], &t.population
	density := k.motion.density(&o.d, p)
	together := k.exists * p.detected * density * o.object
	apart := missing * (o.clutter + (p.births+o.births)*o.object)
	if cost := math.Log(apart / together); cost < margin { // from 0 on it is of rivals
		t.pairs = append(t.pairs, numbers.Pair{Row: i, Column: j, Cost: cost})
	}
}

// hit takes a detection into a track, and counts what that tells.
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

// miss is a frame without a detection of the track's own. It may be merged with the one of another track that is likeliest its own.
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

// take notes what the frame had of a track.
func (t *Tracker) take(k *track, o sight) {
	at := k.at(t.n)
	at.sight = o
	at.gain = k.gain
	gain, detection := k.state.take(&at.sight, &t.population, &t.o)
	k.gain += gain
	at.point = k.state.point(k.id, t.clock[t.n%window].frame, detection)
}

// end removes tracks that are over for longer than the window, and counts what they tell.
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

// learn takes a track's motion into the population.
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

// births begins a track at every detection that no track took, unless it is likely none of an object's.
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
		k.state, k.born = t.scratch, t.n
		k.at(t.n).sight = t.sights[j]
		k.at(t.n).point = k.state.point(k.id, t.clock[t.n%window].frame, j)
		t.owner[j] = k
		t.enter(k)
	}
}

// report lists the tracks that lived in update m.
func (t *Tracker) report(m int) []Point {
	t.points = t.points[:0]
	if m < 1 {
		return t.points
	}
	for _, k := range t.live {
		k.at(m).point.Doubt = 0
	}
	t.doubt(m)
	back := place{t.carried.x - t.clock[m%window].carried.x, t.carried.y - t.clock[m%window].carried.y}
	for _, k := range t.live {
		if k.born == 0 || m < k.born || k.over > 0 && m >= k.over {
			continue
		}
		p := k.at(m).point
		p.Confirmed = k.state.confirmed
		if m == t.n {
			p.Doubt += k.at(m).sight.thirds
		}
		p.Doubt /= 1 + p.Doubt
		p.Exchanged = k.turned == t.n && k.from < m
		p.X, p.Y = p.X-back.x, p.Y-back.y
		t.points = append(t.points, p)
	}
	slices.SortFunc(t.points, func(a, b Point) int { return cmp.Compare(a.ID, b.ID) })
	return t.points
}
