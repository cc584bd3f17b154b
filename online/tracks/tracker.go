package tracks

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"driftscope/internal/assignment"
	"driftscope/internal/grid"
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
}

// The defaults of Options.
const (
	DefaultConfirm = 0.95
	DefaultMemory  = 50.0
	mergedWithin   = 1.2  // sds of the template within which two objects are seen as one
	mergedLeast    = 0.5  // probability from which a track that is not detected is taken for merged
	forgotten      = 0.02 // probability of existence below which a track ends
	mostGap        = 20   // frames without a detection after which one ends
)

// track is one object.
type track struct {
	id        uint64
	motion    motion
	exists    float64
	confirmed bool
	missed    int // frames since the last detection
	since     int // frames since the motion was last told of one, its own or one that it is merged with
	hits      int // detections
	detection int // of this frame, as Point has it
}

// Tracker follows every object of a field.
type Tracker struct {
	o          Options
	population population
	live       []track
	next       uint64 // identity
	frame      uint64
	begun      bool
	solver     assignment.Solver
	pairs      []assignment.Pair
	grid       grid.Grid
	taken      []bool // a detection
	points     []Point
}

// New is a tracker that has seen nothing.
func New(o Options) (*Tracker, error) {
	if o.Confirm == 0 {
		o.Confirm = DefaultConfirm
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if !(o.Width > 0 && o.Height > 0 && o.Template > 0) || !(o.Confirm > 0 && o.Confirm < 1) || !(o.Memory >= 1) {
		return nil, fmt.Errorf("a field of %gx%g px, a template of %g px, confirmation at %g, a memory of %g steps: expected positive numbers, and a probability",
			o.Width, o.Height, o.Template, o.Confirm, o.Memory)
	}
	return &Tracker{o: o, population: newPopulation(o.Template), grid: grid.New(o.Width, o.Height, max(4, 4*o.Template)), next: 1}, nil
}

// Update takes in the detections of a frame, of which the number is larger than the one before. It returns the objects there now, valid until the
// next call.
func (t *Tracker) Update(frame uint64, detections []Detection) []Point {
	steps := 1
	if t.begun {
		steps = int(min(frame-t.frame, mostGap))
	}
	t.frame, t.begun = frame, true
	for i := range t.live {
		k := &t.live[i]
		for range steps {
			k.motion.predict(&t.population)
			k.exists *= 1 - t.population.deaths
		}
		k.detection = Undetected
	}
	t.assign(detections)
	t.end()
	t.births(detections)
	t.population.n.fade()
	t.population.learn(t.o.Width * t.o.Height)
	return t.report()
}

// assign pairs tracks with detections, and takes in what follows for each.
func (t *Tracker) assign(detections []Detection) {
	p := &t.population
	t.grid.Clear()
	for j := range detections {
		t.grid.Add(int32(j), detections[j].X, detections[j].Y)
	}
	t.pairs = t.pairs[:0]
	for i := range t.live {
		k := &t.live[i]
		missing := 1 - k.exists*p.detected
		b, d := k.motion.reach(0.1)
		t.near(k.motion.bx, k.motion.by, b, detections, func(j int) { t.pair(i, j, detections, missing) })
		if k.motion.directed > 0.01 && math.Hypot(k.motion.dx-k.motion.bx, k.motion.dy-k.motion.by)+d > b {
			t.near(k.motion.dx, k.motion.dy, d, detections, func(j int) {
				if math.Hypot(detections[j].X-k.motion.bx, detections[j].Y-k.motion.by) > b {
					t.pair(i, j, detections, missing)
				}
			})
		}
	}
	match := t.solver.Solve(len(t.live), len(detections), t.pairs)
	t.taken = grown(t.taken, len(detections))
	for i := range t.live {
		k := &t.live[i]
		if j := match[i]; j >= 0 {
			t.taken[j] = true
			t.hit(k, int(j), &detections[j])
		}
	}
	for i := range t.live {
		if match[i] < 0 {
			t.miss(&t.live[i], detections)
		}
	}
}

// near calls visit for every detection within reach of a place.
func (t *Tracker) near(x, y, reach float64, detections []Detection, visit func(j int)) {
	t.grid.Near(x, y, reach, func(j int32) {
		if math.Hypot(detections[j].X-x, detections[j].Y-y) <= reach {
			visit(int(j))
		}
	})
}

// pair offers track i detection j, at the negative logarithm of how much more likely they are together.
func (t *Tracker) pair(i, j int, detections []Detection, missing float64) {
	k, d, p := &t.live[i], &detections[j], &t.population
	density, _ := k.motion.density(d)
	f := p.objectDensity(d.Score)
	together := k.exists * p.detected * density * f
	apart := missing * (clutterDensity(d.Score, t.o.Template) + p.births*f)
	if together > apart {
		t.pairs = append(t.pairs, assignment.Pair{Row: i, Column: j, Cost: math.Log(apart / together)})
	}
}

// hit takes detection j into a track.
func (t *Tracker) hit(k *track, j int, d *Detection) {
	p := &t.population
	density, _ := k.motion.density(d)
	f := p.objectDensity(d.Score)
	together := k.exists * p.detected * density * f
	apart := (1 - k.exists) * (clutterDensity(d.Score, t.o.Template) + p.births*f)
	k.exists = together / (together + apart)
	k.motion.update(d, float64(k.since+1), t.o.Memory)
	n := &p.n
	if k.confirmed {
		n.hits++
		n.lives += float64(k.missed + 1)
		n.gaps += float64(k.missed)
		n.scores, n.squares, n.scored = n.scores+d.Score, n.squares+d.Score*d.Score, n.scored+1
	}
	k.missed, k.since, k.detection = 0, 0, j
	k.hits++
	if !k.confirmed && k.exists >= t.o.Confirm && k.hits >= 2 {
		k.confirmed = true
		n.began++
	}
}

// miss is a frame without a detection of the track's own. Objects nearer than mergedWithin to one that was detected are seen as one with it: then that
// detection says where both are.
func (t *Tracker) miss(k *track, detections []Detection) {
	p := &t.population
	within := mergedWithin * t.o.Template
	b, _ := k.motion.reach(0.1)
	merged, most, with := 0.0, 0.0, -1
	t.near(k.motion.bx, k.motion.by, b, detections, func(j int) {
		if !t.taken[j] {
			return
		}
		density, _ := k.motion.density(&detections[j])
		share := min(1, density*math.Pi*within*within)
		merged += share
		if share > most {
			most, with = share, j
		}
	})
	merged = min(merged, 1)
	unseen := (1-merged)*(1-p.detected) + merged
	k.exists *= unseen / (1 - k.exists*(1-unseen))
	k.missed++
	if with >= 0 && most > mergedLeast*unseen && k.confirmed {
		d := detections[with]
		d.VarX, d.VarY = d.VarX+within*within/2, d.VarY+within*within/2
		k.motion.update(&d, float64(k.since+1), t.o.Memory)
		k.since, k.detection = 0, Merged
		return
	}
	k.since++
}

// end removes tracks that are over, and counts what they tell.
func (t *Tracker) end() {
	n := &t.population.n
	n.frames++
	kept := t.live[:0]
	for i := range t.live {
		k := &t.live[i]
		if k.exists >= forgotten && k.missed <= mostGap {
			kept = append(kept, *k)
			continue
		}
		if k.confirmed {
			n.ends++
			t.learn(k)
		}
	}
	t.live = kept
}

// learn takes a track's motion into the population.
func (t *Tracker) learn(k *track) {
	if k.hits < 5 {
		return
	}
	n, m := &t.population.n, &k.motion
	n.moving++
	n.directed += m.directed
	if w := 1 - m.directed; w > 0.5 && m.steps > 3 {
		l := math.Log(m.sum/m.steps) + 0.5/m.steps
		n.logs, n.logSquares, n.logNoise, n.logged = n.logs+l, n.logSquares+l*l, n.logNoise+1/m.steps, n.logged+1
	} else {
		n.speeds, n.sped = n.speeds+(m.vx*m.vx+m.vy*m.vy)/2, n.sped+1
	}
}

// births begins a track at every detection that no track took.
func (t *Tracker) births(detections []Detection) {
	p := &t.population
	for j := range detections {
		if t.taken[j] {
			continue
		}
		d := &detections[j]
		born := p.births * p.objectDensity(d.Score)
		e := born / (born + clutterDensity(d.Score, t.o.Template))
		if e < forgotten/4 {
			continue
		}
		k := track{id: t.next, exists: e, hits: 1, detection: j}
		k.motion.begin(d, p)
		t.next++
		t.live = append(t.live, k)
	}
}

// report lists the live tracks.
func (t *Tracker) report() []Point {
	t.points = t.points[:0]
	for i := range t.live {
		k := &t.live[i]
		x, y := k.motion.place()
		t.points = append(t.points, Point{ID: k.id, Frame: t.frame, X: x, Y: y, SD: math.Sqrt(k.motion.bp), Exists: k.exists, Confirmed: k.confirmed,
			Detection: k.detection, Q: k.motion.size, Directed: k.motion.directed})
	}
	slices.SortFunc(t.points, func(a, b Point) int { return cmp.Compare(a.ID, b.ID) })
	return t.points
}

// grown is v with n times false, in its own memory where that is enough.
func grown(v []bool, n int) []bool {
	if cap(v) < n {
		return make([]bool, n, n+n/2)
	}
	v = v[:n]
	clear(v)
	return v
}
