package objects

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/population"
	"driftscope/online/tracks"
)

// object is what is known of one.
type object struct {
	law         population.Law
	path        path
	frame       uint64 // in which it was there last, as the estimator counts
	first, last uint64 // Seq of the frames in which it was detected first and last
	frames      uint64 // in which it was detected
	x, y        float64
	step        float64 // variance of a step, px²
	runs        bool    // it moves in a direction
	confirmed   bool
	merged      bool // it was told that it is
	together    int  // frames in a row in which it was
}

// fresh is an object that was detected first in a frame.
func (e *Estimator) fresh(seq uint64) *object {
	e.law.born()
	if n := len(e.free); n > 0 {
		k := e.free[n-1]
		e.free = e.free[:n-1]
		k.path.change.Forget()
		k.path.way.cut()
		*k = object{first: seq, path: path{trail: k.path.trail, change: k.path.change, way: k.path.way}}
		return k
	}
	return &object{first: seq}
}

// lasting is how many frames in a row two objects are seen as one before that is told: in a dense field neighbours touch for a frame all the time.
const lasting = 3

// tell reports what has changed with an object.
func (e *Estimator) tell(z *latent.Sight, p *tracks.Point, k *object) {
	if p.Confirmed && !k.confirmed {
		k.confirmed = true
		e.known.births++
		e.reports = append(e.reports, e.trackOf(z, p.ID, k, latent.Born))
	}
	switch {
	case p.Detection == tracks.Merged:
		if k.together++; k.confirmed && k.together == lasting {
			k.merged = true
			e.reports = append(e.reports, e.trackOf(z, p.ID, k, latent.Joined))
		}
	case p.Detection >= 0:
		if k.together = 0; k.merged {
			k.merged = false
			e.reports = append(e.reports, e.trackOf(z, p.ID, k, latent.Parted))
		}
	}
}

// end reports that an object has ended, at once or with its verdict, for which most ends may wait. It gives its steps to the law of all.
func (e *Estimator) end(z *latent.Sight, id uint64, k *object, why string, most int) {
	e.known.deaths++
	e.known.count(&k.law)
	t := e.trackOf(z, id, k, latent.Ended)
	t.Why = why
	if o := e.law.end(t, &k.path); o != nil && e.verdicts.add(o, most) {
		k.path.way.places = e.verdicts.room()
	} else {
		e.reports = append(e.reports, t)
	}
	if id == e.follow.id {
		e.follow.lose()
		e.reports = append(e.reports, &latent.Event{Seq: z.Seq, Time: z.Time, Level: latent.Warning, Code: "followed_object_ended",
			Text: "the followed object has ended, " + why + ": send follow with another number", Count: 1})
	}
}

// trackOf is what is known of an object now.
func (e *Estimator) trackOf(z *latent.Sight, id uint64, k *object, change latent.Change) *latent.Track {
	t := &latent.Track{Seq: z.Seq, Time: z.Time, ID: id, Change: change, First: k.first, Last: k.last, Frames: k.frames, X: k.x, Y: k.y, Path: k.law.Path(), Runs: k.runs}
	t.DriftX, t.DriftY = k.law.Drift()
	t.Px, t.UM = e.ranges(k.law.Diffusion(e.config.Exposure.Seconds(), k.runs))
	return t
}

// ranges is a diffusion in px²/s and in µm²/s.
func (e *Estimator) ranges(d population.Diffusion) (px, um latent.Range) {
	px = latent.Range{D: d.D, Low: d.Low, High: d.High}
	if a := e.config.PixelUM * e.config.PixelUM; a > 0 {
		um = latent.Range{D: a * d.D, Low: a * d.Low, High: a * d.High}
	}
	return px, um
}
