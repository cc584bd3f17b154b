package objects

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/online"
	"driftscope/online/diffusion"
	"driftscope/online/pooled"
	"driftscope/online/population"
	"driftscope/online/tracks"
)

// Config sets up an Estimator.
type Config struct {
	Every    int           // frames between two published populations; 0 means DefaultEvery
	Lag      int           // delay of a result in frames, 0 to tracks.MostLag
	MaxGap   time.Duration // no step crosses a longer pause between two frames
	Exposure time.Duration // exposure time of a frame, during which motion blurs a spot
	PixelUM  float64       // side of a pixel in the specimen, µm; 0 if unknown
	Depth    float64       // thickness of the slab in which objects are visible, µm; 0 if unknown; needs PixelUM
	Pairs    bool          // measure the force between two objects
	Bare     bool          // learn no law of all objects
	Latents  int           // latents per object from a model of objects; 0 without a model
	Follow   online.Config // law of the followed object; its Dim becomes 2 + Latents
}

// DefaultEvery is the default of Config.Every.
const DefaultEvery = 25

// doubtful is the probability of a wrong identity above which an object is marked Doubtful: one in twenty, as for an interval.
const doubtful = 0.05

// Dim is the number of latents of a followed object without a model of objects: its position, x and y, px.
const Dim = 2

// ErrSize reports a frame of another size.
var ErrSize = errors.New("the size of the frames changed: restart the stream")

// Estimator follows every object of a field. Its methods are called from one goroutine.
type Estimator struct {
	config  Config
	clock   diffusion.Clock
	pace    pace
	tracker *tracks.Tracker // nil before the first frame with a template
	size    [2]int          // of the frames
	rows    tracks.Rows
	row     func(tracks.Row) // e.keep; stored because a method value made per frame would allocate
	earlier []latent.Place   // positions in earlier frames, for the current message

	detections []tracks.Detection // of the current frame
	held       held
	live       map[uint64]*object
	ids        []uint64 // keys of live, in ascending order
	away       []uint64 // memory for the next ids
	free       []*object
	frame      uint64       // frames published
	origin     time.Time    // time of the first frame
	last       latent.Sight // number, time and template of the last published frame
	spots      int          // in the last published frame

	known    known    // state that outlives objects
	law      law      // law of all objects
	verdicts verdicts // on ended objects; unused without a law of all objects
	mapTold  mapTold
	pairs    pairs             // forces between objects
	next     population.Common // common motion, updated by the current frame

	film      uint64 // trajectory of the frames
	begun     bool   // Update has seen a frame
	follow    follow
	frozen    bool
	reports   []latent.Message
	alarms    alarms
	links     links
	trackable string // trackability at the end of the run
}

// New returns an empty estimator. Close frees it.
func New(c Config) (*Estimator, error) {
	if c.Every == 0 {
		c.Every = DefaultEvery
	}
	if c.Every < 1 || !(c.PixelUM >= 0) || c.MaxGap < 0 || c.Exposure < 0 || !(c.Depth >= 0) {
		return nil, fmt.Errorf("found a population every %d frames, pixels of %g µm, a gap of %v, an exposure of %v and a focal depth of %g µm, expected no negative value: correct the negative one", c.Every, c.PixelUM, c.MaxGap, c.Exposure, c.Depth)
	}
	if c.Lag < 0 || c.Lag > tracks.MostLag {
		return nil, fmt.Errorf("a lag of %d frames, expected 0 to %d: choose one in this range", c.Lag, tracks.MostLag)
	}
	c.Follow.Dim = Dim + c.Latents
	law, err := online.New(c.Follow)
	if err != nil {
		return nil, err
	}
	e := &Estimator{config: c, clock: diffusion.Clock{MaxGap: c.MaxGap}, held: newHeld(c.Lag), live: map[uint64]*object{}, follow: follow{config: c.Follow, law: law}, alarms: newAlarms()}
	e.row = e.keep
	e.law.exposure = c.Exposure.Seconds()
	every := c.Follow.AlarmFrames
	if every == 0 {
		every = alarmFrames
	}
	if !c.Bare {
		depth := 0.0
		if c.PixelUM > 0 {
			depth = c.Depth / c.PixelUM
		}
		e.law.learner = pooled.New(pooled.Config{Exposure: e.law.exposure, Depth: depth, Deterministic: c.Follow.Deterministic})
		e.law.changed = newChanged(e.law.exposure, every)
		e.verdicts = newVerdicts(e.law.exposure, !c.Follow.Deterministic)
	}
	return e, nil
}

// Update takes the spots of a frame and writes the objects of the frame Lag frames earlier into dst, reusing its memory. In the first Lag frames it returns
// false and does not write dst. If the followed object was detected, dst also contains its estimate; otherwise the latent of dst is empty. An error means
// that the frame was refused; dst is then unspecified.
func (e *Estimator) Update(dst *latent.Estimate, z *latent.Sight) (told bool, err error) {
	e.reports, e.alarms.events = e.reports[:0], e.alarms.events[:0]
	dt, err := e.advance(z)
	if err != nil {
		return false, err
	}
	if e.tracker == nil {
		if err := e.begin(&z.Spots); err != nil {
			return false, err
		}
	}
	if e.begun && z.Trajectory != e.film {
		e.flush()
		e.leave(latent.FilmEnded, mostWaiting)
		e.pace = pace{}
	}
	e.film, e.begun = z.Trajectory, true
	points := e.track(z, dt)
	e.held.push(z, dt)
	if e.held.n <= e.config.Lag {
		return false, nil
	}
	e.conclude(dst, e.held.pop(), points)
	return true, nil
}

// conclude writes the results of a frame into dst. points are the objects of the frame, or nil before there is a tracker.
func (e *Estimator) conclude(dst *latent.Estimate, f *heldFrame, points []tracks.Point) {
	z := &f.z
	e.frame++
	e.last, e.spots = latent.Sight{Head: latent.Head{Seq: z.Seq, Time: z.Time}, Spots: latent.Spots{Template: z.Spots.Template}}, len(z.Spots.Found)
	if dst.Objects == nil {
		dst.Objects = &latent.Objects{}
	}
	dst.Objects.Reset()
	dst.Objects.Width, dst.Objects.Height, dst.Objects.PixelUM, dst.Objects.Left = z.Spots.Width, z.Spots.Height, e.config.PixelUM, uint64(z.Spots.Left)
	dst.Objects.Latents = z.Spots.Latents
	vacate(dst, z)
	if lead := e.config.Follow.Lead; lead != nil {
		dst.Lead = lead()
	}
	if e.tracker != nil {
		e.place(dst, f, points)
	}
	e.look(z, len(dst.Objects.ID))
	e.watch(z)
	dst.Alarms = append(dst.Alarms, e.alarms.on...)
	if e.tracker != nil && e.frame%uint64(e.config.Every) == 0 {
		e.reports = append(e.reports, e.population(false))
	}
}

// advance checks the size and time of z. It returns the time since the previous frame, or 0 if no step leads to z.
func (e *Estimator) advance(z *latent.Sight) (dt float64, err error) {
	s := &z.Spots
	if s.Width <= 0 || s.Height <= 0 {
		return 0, errors.New("the frame has no size, so no spots were searched")
	}
	if size := [2]int{s.Width, s.Height}; e.size == [2]int{} {
		e.size, e.origin = size, z.Time
	} else if e.size != size {
		return 0, fmt.Errorf("%w: found %dx%d, expected %dx%d", ErrSize, s.Width, s.Height, e.size[0], e.size[1])
	}
	return e.clock.Advance(&latent.Latent{Seq: z.Seq, Time: z.Time, Trajectory: z.Trajectory})
}

// begin creates the tracker once the template is known.
func (e *Estimator) begin(s *latent.Spots) (err error) {
	if s.Template <= 0 {
		return nil
	}
	e.tracker, err = tracks.New(tracks.Options{Width: float64(s.Width), Height: float64(s.Height), Template: s.Template, Lag: e.config.Lag})
	if err != nil {
		return err
	}
	e.tracker.Inherit(e.known.learnt)
	if e.law.learner != nil {
		if err := e.law.learner.Begin(float64(s.Width), float64(s.Height)); err != nil {
			return err
		}
	}
	if e.config.Pairs {
		return e.pairs.begin(float64(s.Width), float64(s.Height), s.Template)
	}
	return nil
}

// leave ends all objects. At most most ends may wait for a verdict.
func (e *Estimator) leave(why string, most int) {
	for _, id := range e.ids {
		k := e.live[id]
		if k.confirmed {
			e.end(&e.last, id, k, why, most)
		}
		delete(e.live, id)
		e.free = append(e.free, k)
	}
	e.ids, e.rows = e.ids[:0], tracks.Rows{}
	if e.tracker != nil {
		e.tracker.Clear()
	}
}

// vacate empties dst except for the head of z.
func vacate(dst *latent.Estimate, z *latent.Sight) {
	dst.Latent.Reset(0)
	dst.Latent.Of(z.Head)
	dst.Drift, dst.Filtered, dst.FilteredSD, dst.NIS = dst.Drift[:0], dst.Filtered[:0], dst.FilteredSD[:0], 0
	dst.Horizons, dst.Forecast, dst.ForecastSD, dst.Alarms = dst.Horizons[:0], dst.Forecast[:0], dst.ForecastSD[:0], dst.Alarms[:0]
	dst.Lead, dst.Ahead, dst.AheadSD = 0, dst.Ahead[:0], dst.AheadSD[:0]
}

// track passes the spots of a frame to the tracker, dt after the previous frame. It returns the points of the frame to publish next.
func (e *Estimator) track(z *latent.Sight, dt float64) []tracks.Point {
	lost := e.pace.lost(z)
	if e.tracker == nil {
		return nil
	}
	e.detections = e.detections[:0]
	for i, s := range z.Spots.Found {
		d := tracks.Detection{X: s.X, Y: s.Y, VarX: s.VarX, VarY: s.VarY, Score: s.Score}
		if len(z.Spots.ID) > 0 {
			d.ID = z.Spots.ID[i]
		}
		e.detections = append(e.detections, d)
	}
	e.known.shiftX, e.known.shiftY = e.known.shiftX+e.known.common.X*dt, e.known.shiftY+e.known.common.Y*dt
	e.tracker.Carry(e.known.common.X*dt, e.known.common.Y*dt)
	e.tracker.Pass(lost)
	return e.tracker.Update(z.Seq, e.detections)
}

// place updates the laws of a frame's objects and writes the objects' columns.
func (e *Estimator) place(dst *latent.Estimate, f *heldFrame, points []tracks.Point) {
	z := &f.z
	e.earlier = dst.Objects.Earlier
	e.rows.Add(z.Seq, points, e.row)
	dst.Objects.Earlier, dst.Objects.States = e.earlier, e.law.states()
	dst.Objects.Swaps = e.swaps(dst.Objects.Swaps)
	e.next.Begin()
	if f.dt == 0 {
		e.cut()
	}
	for i := range points {
		e.take(dst, z, &points[i])
	}
	e.bury(z, points)
	e.pair(z, points, f.dt)
	e.pass(z, f.dt, len(points))
	if e.next.End(); !e.frozen {
		e.known.common = e.next
	}
}

// mostSwaps bounds the pairs of a message.
const mostSwaps = 1000

// swaps appends the pairs that may have exchanged their numbers, the likeliest first.
func (e *Estimator) swaps(dst []latent.Swap) []latent.Swap {
	if e.tracker == nil {
		return dst
	}
	for _, s := range e.tracker.Swaps(doubtful) {
		dst = append(dst, latent.Swap{ID: s.A, With: s.B, Since: s.Since, P: s.P})
	}
	slices.SortFunc(dst, func(a, b latent.Swap) int {
		return cmp.Or(cmp.Compare(b.P, a.P), cmp.Compare(a.ID, b.ID), cmp.Compare(a.With, b.With))
	})
	return dst[:min(len(dst), mostSwaps)]
}

// keep records a position in an earlier frame. The columns have the positions in the current frame.
func (e *Estimator) keep(r tracks.Row) {
	if r.Frame != e.last.Seq {
		e.earlier = append(e.earlier, latent.Place{Seq: r.Frame, ID: r.ID, X: r.X, Y: r.Y, SD: r.SD, Filled: r.Filled})
	}
}

// cut interrupts the steps of every object before its next position.
func (e *Estimator) cut() {
	for _, k := range e.live {
		k.law.Cut()
	}
}

// take updates the laws and columns of one object.
func (e *Estimator) take(dst *latent.Estimate, z *latent.Sight, p *tracks.Point) {
	k := e.live[p.ID]
	if k == nil {
		k = e.fresh(z.Seq)
		e.live[p.ID] = k
	}
	k.frame, k.x, k.y, k.step, k.runs = e.frame, p.X, p.Y, p.Q, runs(p)
	if p.Exchanged {
		k.law.Cut()
	}
	if p.Detection >= 0 {
		d := &z.Spots.Found[p.Detection]
		k.last, k.frames = z.Seq, k.frames+1
		if !e.frozen {
			place := population.Place{X: d.X, Y: d.Y, T: e.seconds(z.Time), Weight: 1 - p.Doubt}
			step, ok := k.law.Add(place, &e.known.common)
			k.path.runs = k.runs
			e.law.take(&k.path, step, ok, &place, (d.VarX+d.VarY)/2)
		}
	}
	e.tell(z, p, k)
	if !k.confirmed {
		return
	}
	e.known.chances++
	e.next.Add(&k.law)
	marks := latent.Mark(0)
	switch {
	case p.Detection >= 0:
		e.known.hits++
		e.links.add(p.Link)
	case p.Detection == tracks.Merged:
		marks |= latent.Merged
	default:
		marks |= latent.Predicted
	}
	if k.runs {
		marks |= latent.Directed
	}
	if p.Doubt > doubtful {
		marks |= latent.Doubtful
	}
	if p.ID == e.follow.id {
		marks |= latent.Followed
		e.follow.update(dst, z, p)
	}
	o := dst.Objects
	o.ID, o.X, o.Y, o.SD = append(o.ID, p.ID), append(o.X, p.X), append(o.Y, p.Y), append(o.SD, p.SD)
	o.D, o.Marks, o.Doubt, o.Link = append(o.D, k.law.D()), append(o.Marks, marks), append(o.Doubt, p.Doubt), append(o.Link, p.Link)
	x, y := math.NaN(), math.NaN()
	if p.Detection >= 0 {
		x, y = z.Spots.Found[p.Detection].X, z.Spots.Found[p.Detection].Y
	}
	o.LocX, o.LocY = append(o.LocX, x), append(o.LocY, y)
	o.State = e.law.tell(o.State, &k.path)
	o.Z, o.ZSD = see(o.Z, z.Spots.Z, z.Spots.Latents, p.Detection), see(o.ZSD, z.Spots.ZSD, z.Spots.Latents, p.Detection)
}

// see appends the d latents of a detection to a column, or NaN without a detection.
func see(column, spots []float64, d, detection int) []float64 {
	if detection >= 0 {
		return append(column, spots[d*detection:][:d]...)
	}
	for range d {
		column = append(column, math.NaN())
	}
	return column
}

// runs reports whether an object moves in a direction: directed motion is likelier than diffusion, and its speed is significant (99 %, χ² of two axes). At
// rest, both motions explain an object equally well, and its speed is not significant.
func runs(p *tracks.Point) bool {
	const chance = 9.21
	return p.Directed > 0.5 && p.Speed*p.Speed > chance*p.SpeedSD*p.SpeedSD
}

// seconds returns the time since the first frame.
func (e *Estimator) seconds(t time.Time) float64 { return t.Sub(e.origin).Seconds() }

// bury ends lost objects once they can no longer come back, in ascending order of their numbers. points have the same order.
func (e *Estimator) bury(z *latent.Sight, points []tracks.Point) {
	kept := e.away[:0]
	for _, id := range e.ids {
		k := e.live[id]
		switch {
		case k.frame == e.frame: // among the points
		case e.frame-k.frame < tracks.Open:
			for len(points) > 0 && points[0].ID < id {
				kept, points = append(kept, points[0].ID), points[1:]
			}
			kept = append(kept, id)
		default:
			if k.confirmed {
				e.end(z, id, k, e.why(k), mostWaiting)
			}
			delete(e.live, id)
			e.free = append(e.free, k)
		}
	}
	for i := range points {
		kept = append(kept, points[i].ID)
	}
	e.ids, e.away = kept, e.ids
}

// why returns the reason for an object's end: it left the field if one step could have taken it over the edge, else it was lost.
func (e *Estimator) why(k *object) string {
	const sds = 3
	reach := sds * math.Sqrt(k.step)
	if w, h := float64(e.size[0]), float64(e.size[1]); k.x < reach || k.y < reach || k.x > w-1-reach || k.y > h-1-reach {
		return latent.LeftField
	}
	return latent.Lost
}

// Freeze fixes the laws (true), or lets them learn again. Objects are followed either way.
func (e *Estimator) Freeze(frozen bool) {
	e.frozen = frozen
	e.cut()
	e.follow.law.Freeze(frozen)
}

// Reset forgets all laws. Objects and their numbers stay.
func (e *Estimator) Reset() {
	for _, k := range e.live {
		k.law, k.path = population.Law{}, path{}
	}
	e.law.reset()
	if e.pairs.estimator != nil {
		e.pairs.estimator.Reset()
	}
	e.known = known{births: e.known.births, deaths: e.known.deaths}
	e.follow.law.Reset()
}

// Reports returns the messages of the last Update. Last returns the messages of held frames and of objects present at the end of the run.
func (e *Estimator) Reports() []latent.Message { return e.reports }

// Alarms returns the events of alarms that began or ended with the last Update. They are valid until the next Update.
func (e *Estimator) Alarms() []latent.Event { return e.alarms.events }

// Close ends the goroutines outside the frame path.
func (e *Estimator) Close() error {
	e.law.close()
	e.verdicts.close()
	return e.follow.close()
}
