package tracks

import "math"

// state is what is known of an object at one frame.
type state struct {
	motion    motion
	exists    float64
	confirmed bool
	missed    int    // updates since the last detection
	ago       int    // the same, with those that were not seen
	since     int    // the same, since the motion was last told of a detection, its own or one that it is merged with
	hits      int    // detections
	with      uint64 // the track it is merged with, or has just parted from
}

// sight is what a frame had of a track.
type sight struct {
	detection int    // of the frame, or Undetected
	beside    uint64 // where it is undetected: the track that d is of, 0 for none
	d         Detection
	births    float64 // that came with it beside those of one frame, px⁻²
	object    float64 // density of d's score among objects
	clutter   float64 // density of false maxima of d's score, px⁻²
	thirds    float64 // odds that three tracks took turns in the frame, by what was seen up to it
}

// sighted is a frame's detection, number j.
func (t *Tracker) sighted(j int, d *Detection) sight {
	return sight{detection: j, d: *d, births: t.meanwhile, object: t.population.objectDensity(d.Score), clutter: clutterDensity(d.Score, t.o.Template)}
}

// own is whether the track has a detection of its own.
func (o *sight) own() bool { return o.detection >= 0 }

// step is a track in one frame of the window.
type step struct {
	before state   // predicted
	gain   float64 // the track's, before
	sight  sight
	point  Point
}

// track is one object.
type track struct {
	id          uint64
	state       state
	born        int     // update of the first detection; 0, none
	over        int     // update in which it ended; 0, none
	turned      int     // update of its last exchange
	from        int     // update from which on that was
	exchange    int     // the number of that exchange
	gain        float64 // logarithm of how much likelier its detections since its birth are by it than by none
	row         int     // in live
	first, last int     // its pairs are pairs[first:last]
	steps       []step
}

func (k *track) at(n int) *step { return &k.steps[n%window] }

// turn notes that in update n what it had from another update on was exchanged.
func (k *track) turn(n, from int) {
	if k.turned == n {
		from = min(from, k.from)
	}
	k.turned, k.from = n, from
}

// begin is the state of a track that begins at a detection.
func (s *state) begin(o *sight, p *population) {
	born := (p.births + o.births) * o.object
	*s = state{exists: born / (born + o.clutter), hits: 1}
	s.motion.begin(&o.d, p)
}

// predict moves it on by some frames.
func (s *state) predict(frames int, p *population) {
	s.motion.predictOver(frames, p)
	s.exists *= p.survival(frames)
	s.ago, s.since = s.ago+frames, s.since+frames
}

// take moves a predicted state to what a frame had. It returns the logarithm of how much likelier that is with the track than without, and the point's
// Detection.
func (s *state) take(o *sight, p *population, opts *Options) (gain float64, detection int) {
	if o.own() {
		return s.hit(o, p, opts), o.detection
	}
	return s.miss(o, p, opts)
}

// hit takes in a detection.
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

// miss is a frame without a detection of its own. Objects nearer than mergedWithin to one that was detected are seen as one with it: then that detection
// says where both are.
func (s *state) miss(o *sight, p *population, opts *Options) (gain float64, detection int) {
	within := mergedWithin * opts.Template
	merged := 0.0
	d := o.d
	if o.beside != 0 {
		d.VarX, d.VarY = d.VarX+within*within/2, d.VarY+within*within/2
		merged = min(1, s.motion.density(&d, p)*math.Pi*within*within)
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

// over is whether a track ends.
func (s *state) over() bool { return s.exists < forgotten || s.missed > mostGap }

// point is the object as it is reported.
func (s *state) point(id, frame uint64, detection int) Point {
	m := &s.motion
	x, y := m.place()
	return Point{ID: id, Frame: frame, X: x, Y: y, SD: math.Sqrt(m.bp), Exists: s.exists, Confirmed: s.confirmed, Detection: detection, Q: m.size,
		Directed: m.directed, Speed: math.Hypot(m.vx, m.vy), SpeedSD: math.Sqrt(m.vv), With: s.with}
}
