package tracks

import (
	"fmt"
	"math"
	"slices"

	"driftscope/internal/assignment"
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
	missed    int     // frames since the last detection
	hits      int     // detections
	detection int     // of this frame, -1
	born      uint64  // frame
	score     float64 // density of the last detection's score, as an object's
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
	grid       grid
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
	return &Tracker{o: o, population: newPopulation(o.Template), next: 1}, nil
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

// Live is the number of tracks that are followed, confirmed or not.
func (t *Tracker) Live() int { return len(t.live) }

// assign pairs tracks with detections, and takes in what follows for each.
func (t *Tracker) assign(detections []Detection) {
	p := &t.population
	t.grid.fill(detections, t.o.Width, t.o.Height, 4*t.o.Template)
	t.pairs = t.pairs[:0]
	for i := range t.live {
		k := &t.live[i]
		missing := 1 - k.exists*p.detected
		b, d := k.motion.reach(0.1)
		t.grid.near(k.motion.bx, k.motion.by, b, func(j int) { t.pair(i, j, detections, missing) })
		if k.motion.directed > 0.01 && math.Hypot(k.motion.dx-k.motion.bx, k.motion.dy-k.motion.by)+d > b {
			t.grid.near(k.motion.dx, k.motion.dy, d, func(j int) {
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

// pair offers track i detection j, at the negative logarithm of how much more likely they are together.
func (t *Tracker) pair(i, j int, detections []Detection, missing float64) {
	k, d, p := &t.live[i], &detections[j], &t.population
	density, _ := k.motion.density(d)
	f := p.objectDensity(d.Score)
	together := k.exists * p.detected * density * f
	apart := missing * (p.clutterDensity(d.Score, t.o.Template) + p.births*f)
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
	apart := (1 - k.exists) * (p.clutterDensity(d.Score, t.o.Template) + p.births*f)
	k.exists = together / (together + apart)
	k.motion.update(d, float64(k.missed+1), t.o.Memory)
	n := &p.n
	if k.confirmed {
		n.hits++
		n.lives += float64(k.missed + 1)
		n.gaps += float64(k.missed)
		n.scores, n.squares, n.scored = n.scores+d.Score, n.squares+d.Score*d.Score, n.scored+1
	}
	k.missed, k.detection = 0, j
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
	t.grid.near(k.motion.bx, k.motion.by, b, func(j int) {
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
		k.motion.update(&d, 1, t.o.Memory)
		k.detection = Merged
		return
	}
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
		} else {
			n.false_ += float64(k.hits)
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
		d := &detections[j]
		c := p.clutterDensity(d.Score, t.o.Template)
		if t.taken[j] {
			continue
		}
		b := p.births
		f := p.objectDensity(d.Score)
		e := b * f / (b*f + c)
		if e < forgotten/4 {
			continue
		}
		k := track{id: t.next, exists: e, hits: 1, detection: j, born: t.frame}
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
	slices.SortFunc(t.points, func(a, b Point) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return t.points
}

// grid finds detections near a place, in square cells.
type grid struct {
	side          float64
	rows, columns int
	first, items  []int32
	detections    []Detection
}

func (g *grid) fill(detections []Detection, width, height, side float64) {
	g.side, g.detections = side, detections
	g.rows, g.columns = int(height/side)+1, int(width/side)+1
	g.first = grown(g.first, g.rows*g.columns+1)
	g.items = grown(g.items, len(detections))
	for i := range detections {
		g.first[g.cell(detections[i].X, detections[i].Y)+1]++
	}
	for c := 1; c < len(g.first); c++ {
		g.first[c] += g.first[c-1]
	}
	for i := len(detections) - 1; i >= 0; i-- {
		c := g.cell(detections[i].X, detections[i].Y) + 1
		g.first[c]--
		g.items[g.first[c]] = int32(i)
	}
	// first[c+1] is where cell c begins now
}

func (g *grid) cell(x, y float64) int {
	r, c := min(max(int(y/g.side), 0), g.rows-1), min(max(int(x/g.side), 0), g.columns-1)
	return r*g.columns + c
}

// near calls visit for every detection within reach of a place.
func (g *grid) near(x, y, reach float64, visit func(j int)) {
	r0, r1 := max(int((y-reach)/g.side), 0), min(int((y+reach)/g.side), g.rows-1)
	c0, c1 := max(int((x-reach)/g.side), 0), min(int((x+reach)/g.side), g.columns-1)
	for r := r0; r <= r1; r++ {
		for c := c0; c <= c1; c++ {
			cell := r*g.columns + c
			end := int32(len(g.items))
			if cell+2 < len(g.first) {
				end = g.first[cell+2]
			}
			for _, j := range g.items[g.first[cell+1]:end] {
				d := &g.detections[j]
				if math.Hypot(d.X-x, d.Y-y) <= reach {
					visit(int(j))
				}
			}
		}
	}
}

// grown is v with n zeros, in its own memory where that is enough.
func grown[T bool | int32](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n, n+n/2)
	}
	v = v[:n]
	clear(v)
	return v
}
