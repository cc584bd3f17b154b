// The force between objects
//
// Object i is at x_i, px, and r_ij is the vector from j to i:
//
//	dx_i = Σ_j f(|r_ij|) r_ij/|r_ij| dt + √2D dW                                                     (1)
//
// f is a velocity, px/s, and positive for repulsion; f/D is the force over kT, 1/px. f is zero beyond the reach. Within the reach it is a curve through Knots
// values c_k. Ψ_k, a vector for each object, is the sum of knot k's hat over the object's neighbours: dx = Σ_k c_k Ψ_k dt + √2D dW.

package interactions

import (
	"math"

	"driftscope/internal/kit/numbers"
)

// refresh is the number of frames between updates of the known force for forecasts, (3): half a second, in which the sums hardly change.
const refresh = 25

// guard is the difference between the least distance used for learning and the resolution, in standard deviations of two objects' relative step. Of the steps
// that begin further apart, one in 700 ends so close that two objects appear as one.
const guard = 3

// Estimator learns the force between pairs of objects. One goroutine calls its methods. New makes one; the zero value is unusable.
type Estimator struct {
	config Config
	law    law
	sums   sums
	priors []prior
	work   work
	known  values // force used in forecasts, px/s

	cells  numbers.Grid
	movers []mover
	slots  map[uint64]int32 // slot of each object in movers
	free   []int32
	met    []meeting
	now    []int32 // slots of the current frame's objects, in its order
	before []int32 // slots of the previous frame's objects
	frame  uint64
	last   float64 // time of the previous frame
}

// New returns an Estimator without data.
func New(c Config) (*Estimator, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &Estimator{config: c, priors: newPriors(), cells: numbers.NewGrid(c.Width, c.Height, c.Reach), slots: map[uint64]int32{}, last: math.Inf(-1)}, nil
}

// Cut omits the step to the next frame.
func (e *Estimator) Cut() {
	for _, s := range e.now {
		e.remove(s)
	}
	e.now = e.now[:0]
}

// Reset forgets the force and all objects.
func (e *Estimator) Reset() {
	e.Cut()
	e.law, e.sums, e.known, e.last = law{}, sums{}, values{}, math.Inf(-1)
}

// Update adds a frame. On an error it changes nothing.
func (e *Estimator) Update(f *Frame) error {
	if err := f.check(e.last); err != nil {
		return err
	}
	dt := f.T - e.last
	if e.config.Memory > 0 && !math.IsInf(dt, 1) {
		keep := math.Exp(-dt / e.config.Memory)
		e.law.fade(keep)
		e.sums.fade(keep)
	}
	e.frame++
	e.last = f.T
	e.before, e.now = e.now, e.before[:0]
	learn := e.law.ready()
	for i := range f.ID {
		e.now = append(e.now, e.take(f, i, dt))
	}
	e.bury()
	e.meet(f)
	e.learn(f, dt, learn)
	if e.frame%refresh == 0 && learn {
		e.work.weigh(&e.sums, e.priors, e.law.d()/e.config.Reach)
		e.known = e.work.mean
	}
	return nil
}

// take updates the filter of the frame's object i and returns its slot.
func (e *Estimator) take(f *Frame, i int, dt float64) int32 {
	slot, there := e.slots[f.ID[i]]
	if !there {
		slot = e.fresh(f.ID[i])
	}
	m := &e.movers[slot]
	m.frame = e.frame
	p := place{f.X[i], f.Y[i], f.Variance[i], f.Weight[i], dt, f.ShiftX, f.ShiftY}
	m.doubt = !(p.weight > 0)
	if !there || m.doubt || !m.begun {
		m.begin(p.x, p.y, p.variance)
		if e.law.pairs > 0 {
			m.variance = e.law.placed(p.variance, dt)
		}
		m.begun = !m.doubt
		return slot
	}
	variance := p.variance
	e.law.add(m, p)
	p.variance = e.law.placed(variance, dt)
	m.advance(p, &e.law, &e.known)
	return slot
}

// fresh returns a slot for an object that was not in the previous frame.
func (e *Estimator) fresh(id uint64) int32 {
	var slot int32
	if n := len(e.free); n > 0 {
		slot, e.free = e.free[n-1], e.free[:n-1]
	} else {
		slot = int32(len(e.movers))
		e.movers = append(e.movers, mover{})
	}
	e.movers[slot] = mover{id: id}
	e.slots[id] = slot
	return slot
}

// bury removes lost objects.
func (e *Estimator) bury() {
	for _, s := range e.before {
		if e.movers[s].frame != e.frame {
			e.remove(s)
		}
	}
}

// remove frees a slot.
func (e *Estimator) remove(s int32) {
	delete(e.slots, e.movers[s].id)
	e.free = append(e.free, s)
}

// learn adds the frame's innovations to the sums, now that the hats at both ends of each step are known. It then updates the responses to this frame.
func (e *Estimator) learn(f *Frame, dt float64, ready bool) {
	for _, s := range e.now {
		m := &e.movers[s]
		i := &m.innovation
		if i.there {
			m.by.accumulate(dt, &m.hats)
			m.mid.accumulate(dt/2, &m.hats)
			m.mid.accumulate(dt/2, &m.later)
			if ready && !i.barred {
				e.sums.add(m)
			}
			m.by.fade(1-i.gain, dt)
			m.mid.fade(1-i.gain, dt)
			i.there = false
		}
		m.hats, m.later = m.later, m.hats
		m.later.clear()
		if ready && !m.barred && !m.doubt {
			e.sums.shown++
			e.sums.ideal += float64(len(f.ID)-1) / (e.config.Width * e.config.Height)
		}
	}
}
