package tracks

import "math"

// state is the state of an object in one frame.
type state struct {
	motion    motion
	exists    float64
	confirmed bool
	missed    int    // updates since the last detection
	ago       int    // frames since the last detection
	since     int    // frames since the motion was last updated, by its own or a merged detection
	hits      int    // detections
	with      uint64 // the track that this one is merged with, or has just parted from
}

// sight is a track's observation in one frame.
type sight struct {
	detection int    // index in the frame, or Undetected
	beside    uint64 // if undetected: the track that owns d, 0 if none
	d         Detection
	births    float64 // extra births in a gap of several frames since the last update, px⁻²
	object    float64 // density of d's score among objects
	clutter   float64 // density of false maxima of d's score, px⁻²
}

// sighted returns the sight of detection j of the frame.
func (t *Tracker) sighted(j int, d *Detection) sight {
	return sight{detection: j, d: *d, births: t.meanwhile, object: t.population.objectDensity(d.Score), clutter: clutterDensity(d.Score, t.o.Template)}
}

func (o *sight) own() bool { return o.detection >= 0 }

// step is a track in one frame of the window.
type step struct {
	before state   // predicted state
	gain   float64 // gain of the track before this frame
	link   float64 // probability of the detection, or of none, given the frames up to this one; NaN if unknown
	sight  sight
	point  Point
}

// track is one object.
type track struct {
	id          uint64
	state       state
	born        int     // update of the first detection; 0 without one
	over        int     // update in which it ended; 0 while it lives
	turned      int     // update of its last exchange
	from        int     // first update that the last exchange changed
	exchange    int     // number of the last exchange
	link        float64 // probability of the link to the detection that the last exchange gave it
	gain        float64 // log likelihood ratio of its detections since birth, with and without the track
	row         int     // in live
	first, last int     // its pairs are pairs[first:last]
	short       bool    // it may lack pairs, because t.widest is less than its reach
	steps       []step
}

func (k *track) at(n int) *step { return &k.steps[n%window] }

// turn records that update n exchanged the sights from an earlier update on.
func (k *track) turn(n, from int) {
	if k.turned == n {
		from = min(from, k.from)
	}
	k.turned, k.from = n, from
}

// begin starts a state at a detection.
func (s *state) begin(o *sight, p *population) {
	born := (p.births + o.births) * o.object
	*s = state{exists: born / (born + o.clutter), hits: 1}
	s.motion.begin(&o.d, p)
}

// predict advances the state by the given number of frames.
func (s *state) predict(frames int, p *population) {
	s.motion.predictOver(frames, p)
	s.exists *= p.survival(frames)
	s.ago, s.since = s.ago+frames, s.since+frames
}

// take updates a predicted state with a sight. It returns the log likelihood ratio with and without the track, and the Detection of the point.
func (s *state) take(o *sight, p *population, opts *Options) (gain float64, detection int) {
	if o.own() {
		return s.hit(o, p, opts), o.detection
	}
	return s.miss(o, p, opts)
}

// hit updates the state with a detection.
func (s *state) hit(o *sight, p *population, opts *Options) float64 {
	together := s.exists * p.detected * s.motion.update(&o.d, float64(s.since), opts.Memory, p) * o.object
	none := o.clutter + (p.births+o.births)*o.object
	s.exists = together / (together + (1-s.exists)*none)
	if s.missed == 0 {
		s.with = 0
	}
	s.missed, s.ago, s.since = 0, 0, 0
	s.hits++
	s.confirmed = s.confirmed || s.exists >= opts.Confirm && s.hits >= 2
	return math.Log(together / none)
}

// miss updates the state without a detection of its own. An object within mergedWithin of a detected object appears as one with it, and the detection gives
// the position of both.
func (s *state) miss(o *sight, p *population, opts *Options) (gain float64, detection int) {
	d, merged := o.d, 0.0
	if o.beside != 0 {
		d, merged = s.beside(o.d, p, opts)
	}
	unseen := (1-merged)*(1-p.detected) + merged
	all := 1 - s.exists*(1-unseen)
	s.exists *= unseen / all
	s.missed++
	if merged > mergedLeast*unseen && s.confirmed {
		s.motion.update(&d, float64(s.since), opts.Memory, p)
		s.since, s.with = 0, o.beside
		return math.Log(all), Merged
	}
	s.with = 0
	return math.Log(all), Undetected
}

// beside returns the probability that the object is so close to the object detected by d that both appear as one, and the position of both.
func (s *state) beside(d Detection, p *population, opts *Options) (both Detection, merged float64) {
	within := mergedWithin * opts.Template
	d.VarX, d.VarY = d.VarX+within*within/2, d.VarY+within*within/2
	return d, min(1, s.motion.density(&d, p)*math.Pi*within*within)
}

// over reports whether a track ends.
func (s *state) over() bool { return s.exists < forgotten || s.missed > mostGap }

// point returns the published object.
func (s *state) point(id, frame uint64, detection int) Point {
	m := &s.motion
	x, y := m.place()
	return Point{ID: id, Frame: frame, X: x, Y: y, SD: math.Sqrt(m.bp), Exists: s.exists, Confirmed: s.confirmed, Detection: detection, Q: m.size,
		Directed: m.directed, Speed: math.Hypot(m.vx, m.vy), SpeedSD: math.Sqrt(m.vv), With: s.with}
}
