package objects

import (
	"driftscope/internal/flow/latent"
	"driftscope/online/population"
	"driftscope/online/tracks"
)

// object is the state of one object.
type object struct {
	law         population.Law
	path        path
	frame       uint64 // value of Estimator.frame at the last frame that contained the object
	first, last uint64 // Seq of the frames that first and last detected it
	frames      uint64 // frames that detected it
	x, y        float64
	step        float64 // variance of a step, px²
	runs        bool    // the object moves in a direction
	confirmed   bool
	merged      bool // reported as merged
	together    int  // merged frames in a row
}

// fresh returns an object first detected in frame seq.
func (e *Estimator) fresh(seq uint64) *object {
	e.law.born()
	if n := len(e.free); n > 0 {
		k := e.free[n-1]
		e.free = e.free[:n-1]
		k.path.change.Forget()
		k.path.way.cut()
		k.path.state.forget()
		*k = object{first: seq, path: path{trail: k.path.trail, change: k.path.change, way: k.path.way, state: k.path.state}}
		return k
	}
	return &object{first: seq}
}

// lasting is the number of frames in a row in which two objects must appear as one before the merger is reported. In a dense field neighbours often touch for
// a frame.
const lasting = 3

// tell reports changes of an object.
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

// end reports the end of an object, at once or later with its verdict, and passes its steps to the law of all objects. At most most ends may wait for a
// verdict.
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

// trackOf returns the current state of an object.
func (e *Estimator) trackOf(z *latent.Sight, id uint64, k *object, change latent.Change) *latent.Track {
	t := &latent.Track{Seq: z.Seq, Time: z.Time, ID: id, Change: change, First: k.first, Last: k.last, Frames: k.frames, X: k.x, Y: k.y, Path: k.law.Path(), Runs: k.runs}
	t.DriftX, t.DriftY = k.law.Drift()
	t.Px, t.UM = e.ranges(k.law.Diffusion(e.config.Exposure.Seconds(), k.runs))
	return t
}

// ranges converts a diffusion to px²/s and to µm²/s.
func (e *Estimator) ranges(d population.Diffusion) (px, um latent.Range) {
	px = latent.Range{D: d.D, Low: d.Low, High: d.High}
	if a := e.config.PixelUM * e.config.PixelUM; a > 0 {
		um = latent.Range{D: a * d.D, Low: a * d.Low, High: a * d.High}
	}
	return px, um
}
