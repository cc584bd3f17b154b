package objects

import (
	"cmp"
	"math"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/system"
	"driftscope/online/exact"
	"driftscope/online/pooled"
	"driftscope/online/states"
)

// Schedule of verdicts on ended objects.
const (
	fewestJudged = 10   // fewest positions that give an exponent
	patient      = 25   // longest wait for a job, in frames; and again for the job's result
	mostWaiting  = 2048 // largest number of waiting ends, at most 6 kB each; further ends are reported without a verdict
	liveBatch    = 16   // verdicts per job of a live run: about 10 ms, followed by a pause of 0.1 s
	batch        = 32   // verdicts per job of a recording
	batchFrames  = 10   // frames between jobs of a recording
)

// The budget for a recording counts verdicts instead of time, so the same film gives the same verdicts under any load. A verdict takes 1 ms; following an
// object takes 0.01 ms per frame.
const (
	earned = 1.0 / 4096 // verdicts per object and frame
	saved  = 1000.0     // verdicts at the start, and largest credit
)

// ending is the time limit for verdicts at the end of a live run, which must stop within its grace period.
const ending = 500 * time.Millisecond

// verdicts classifies ended objects outside the frame path: the kind of motion of each, and its D and state by the law of all objects. An end is reported
// with its verdict some frames later. A live run limits its processor time by a system.Worker. If too many ends wait, further ends are reported without a
// verdict and counted. The choice of the objects does not depend on their motion.
type verdicts struct {
	exposure float64 // s
	live     bool
	worker   *system.Worker[[]verdict]
	judge    exact.Judge // owned by the worker
	law      *pooled.Law // in use; nil before the first
	model    *model      // of its states; may be nil

	frame    uint64
	due      uint64   // frame at which a recording takes the job's result and begins the next job
	credit   float64  // remaining verdicts of a recording
	waiting  []*ended // oldest first
	order    []*ended // reused
	spare    [][]spot
	unjudged uint64 // ends reported without a verdict
}

// ended is an ended object that waits for its verdict.
type ended struct {
	track *latent.Track
	way   way
	piece states.Segment
	frame uint64 // number of the frame in which it ended
	asked bool   // part of a job
	done  bool   // track has the verdict, or the end was reported without one
}

// verdict is the result for one ended object.
type verdict struct {
	of     *ended
	shrunk latent.Range
	state  []float64
	motion *latent.Motion
}

func newVerdicts(exposure float64, live bool) verdicts {
	return verdicts{exposure: exposure, live: live, worker: system.NewWorker[[]verdict](live), credit: saved}
}

// add appends an ended object to those that wait. It returns false if too many wait already.
func (v *verdicts) add(k *ended, most int) bool {
	if len(v.waiting) >= most {
		v.unjudged++
		return false
	}
	k.frame = v.frame
	v.waiting = append(v.waiting, k)
	return true
}

// pass ends a frame with the given number of objects. It calls tell for the ends with a verdict and for late ends.
func (v *verdicts) pass(objects int, tell func(*latent.Track)) {
	v.frame++
	v.credit = min(v.credit+earned*float64(objects), saved)
	wait := time.Duration(0)
	if !v.live && v.frame >= v.due {
		wait = system.Always
	}
	if v.live || v.frame >= v.due {
		if found, ok := v.worker.Take(wait); ok {
			accept(found)
		}
	}
	v.tell(tell, func(k *ended) bool {
		age := v.frame - k.frame
		return age >= patient && !k.asked || age >= 2*patient
	})
	v.begin()
}

// begin starts the next job if the budget allows it.
func (v *verdicts) begin() {
	if len(v.waiting) == 0 || v.worker.Running() || !v.worker.Rested() || !v.live && v.frame < v.due {
		return
	}
	most := liveBatch
	if !v.live {
		most = min(batch, int(v.credit))
	}
	job := v.draw(most)
	if len(job) == 0 {
		return
	}
	if !v.live {
		v.credit, v.due = v.credit-float64(len(job)), v.frame+batchFrames
	}
	v.worker.Begin(v.job(job))
}

// draw chooses waiting objects by a hash of their numbers, so the choice favours neither old nor long tracks.
func (v *verdicts) draw(most int) []*ended {
	v.order = v.order[:0]
	for _, k := range v.waiting {
		if !k.asked {
			v.order = append(v.order, k)
		}
	}
	if len(v.order) > most {
		hash := func(k *ended) uint64 { return k.track.ID * 0x9E3779B97F4A7C15 }
		slices.SortFunc(v.order, func(a, b *ended) int { return cmp.Compare(hash(a), hash(b)) })
		v.order = v.order[:most]
	}
	for _, k := range v.order {
		k.asked = true
	}
	return slices.Clone(v.order)
}

// job returns a function that computes verdicts by the law in use. It writes only to v.judge and to its result.
func (v *verdicts) job(ends []*ended) func(pause func()) []verdict {
	law, model := v.law, v.model
	return func(pause func()) []verdict {
		out := make([]verdict, len(ends))
		var tracks []exact.Track
		var of []int
		for i, k := range ends {
			pause()
			out[i].of = k
			if len(k.piece.Steps) > 0 {
				o := law.Mixture.Judge(k.piece, v.exposure)
				out[i].shrunk, out[i].state = latent.Range{D: o.D.Value, Low: o.D.Low, High: o.D.High}, o.State
				if law.Switching() && model != nil {
					out[i].state = model.over(k.piece)
				}
			}
			if law.Motion != nil && k.way.n >= fewestJudged {
				tracks, of = append(tracks, k.way.track(law.Frame)), append(of, i)
			}
		}
		if len(tracks) == 0 {
			return out
		}
		if !v.live {
			pause = nil
		}
		for n, o := range v.judge.Tracks(law.Motion, tracks, pause) {
			out[of[n]].motion = motionOf(&o, tracks[n], law.Frame)
		}
		return out
	}
}

// motionOf returns the kind of motion of a track. The radius is the root mean square distance from the mean position; the speed is the net distance per time.
func motionOf(o *exact.Object, t exact.Track, frame float64) *latent.Motion {
	p, best := &o.Class, exact.Stuck
	for c := range exact.Classes {
		if p[c] > p[best] {
			best = c
		}
	}
	m := &latent.Motion{Class: best.String(), Stuck: p[exact.Stuck], Free: p[exact.Unbound], Confined: p[exact.Confined], Directed: p[exact.Driven], Anomalous: p[exact.Anomalous],
		Alpha: latent.Bounds(o.Alpha), Radius: math.NaN(), Speed: math.NaN()}
	switch best {
	case exact.Confined:
		var x, y, square float64
		for _, p := range t {
			x, y = x+p.X/float64(len(t)), y+p.Y/float64(len(t))
		}
		for _, p := range t {
			square += ((p.X-x)*(p.X-x) + (p.Y-y)*(p.Y-y)) / float64(len(t))
		}
		m.Radius = math.Sqrt(square)
	case exact.Driven:
		from, to := &t[0], &t[len(t)-1]
		m.Speed = math.Hypot(to.X-from.X, to.Y-from.Y) / (float64(to.Frame-from.Frame) * frame)
	}
	return m
}

// accept stores the verdicts in the ended tracks that have none yet.
func accept(found []verdict) {
	for i := range found {
		if f := &found[i]; !f.of.done {
			f.of.track.Shrunk, f.of.track.State, f.of.track.Motion, f.of.done = f.shrunk, f.state, f.motion, true
		}
	}
}

// tell passes the ends that have a verdict or are late to the callback; the others keep waiting.
func (v *verdicts) tell(tell func(*latent.Track), late func(*ended) bool) {
	kept := v.waiting[:0]
	for _, k := range v.waiting {
		if !k.done && !late(k) {
			kept = append(kept, k)
			continue
		}
		if k.done || !k.asked { // otherwise a job still reads it
			v.reuse(k.way.places)
		}
		if !k.done {
			k.done = true
			v.unjudged++
		}
		tell(k.track)
	}
	clear(v.waiting[len(kept):])
	v.waiting = kept
}

// finish computes the verdicts of all waiting ends and passes the ends to tell. A live run stops at its deadline.
func (v *verdicts) finish(tell func(*latent.Track)) {
	wait, until := system.Always, time.Time{}
	if v.live {
		wait, until = ending, time.Now().Add(ending)
	}
	if found, ok := v.worker.Take(wait); ok {
		accept(found)
	}
	for rest := v.draw(len(v.waiting)); len(rest) > 0 && (until.IsZero() || time.Now().Before(until)); {
		some := rest[:min(len(rest), batch)]
		accept(v.job(some)(func() {}))
		rest = rest[len(some):]
	}
	v.tell(tell, func(*ended) bool { return true })
}

// close ends the goroutine.
func (v *verdicts) close() {
	if v.worker == nil {
		return
	}
	wait := system.Always
	if v.live {
		wait = ending
	}
	v.worker.Close(wait)
}

// mostSpare is the largest number of rings kept for reuse.
const mostSpare = 256

func (v *verdicts) reuse(places []spot) {
	if len(v.spare) < mostSpare {
		v.spare = append(v.spare, places[:0])
	}
}

// room returns a spare ring for the positions of another object, or nil.
func (v *verdicts) room() []spot {
	n := len(v.spare)
	if n == 0 {
		return nil
	}
	places := v.spare[n-1]
	v.spare = v.spare[:n-1]
	return places
}
