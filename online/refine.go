package online

import (
	"math"
	"math/rand/v2"
	"slices"
)

// How the drift is refined: two steps of 64 transitions a frame let a streaming perceptron keep up.
const (
	batchSize      = 64
	stepsPerFrame  = 2
	learningRate   = 3e-3
	priorPrecision = 3.0   // of a weight about where it started
	averaging      = 0.998 // weight of the past in the published average
	firstSlice     = 50    // transitions before anything is learnt; they also fix the centre and scale of a network without a model
)

// refiner owns the goroutine that runs the learner's slices beside the frame path. The learner may be touched from outside
// only while no slice is running.
type refiner struct {
	learner *learner
	jobs    chan job
	done    chan struct{}
	running bool // a job is out; its done has not been received
}

// job is one slice of work: new transitions to take in, and what weighs them.
type job struct {
	in           *transitions // lent until done
	found        []diffusion  // σ² and R, lent until done
	priorSeconds float64      // T₀/T: how many times the data's weight the prior's drift has
	steps        int
}

// newRefiner starts the goroutine; close ends it.
func newRefiner(l *learner) *refiner {
	r := &refiner{learner: l, jobs: make(chan job), done: make(chan struct{})}
	jobs := r.jobs
	go func() {
		defer close(r.done)
		for j := range jobs {
			r.learner.slice(j)
			r.done <- struct{}{}
		}
	}()
	return r
}

// begin hands over a job. None may be running.
func (r *refiner) begin(j job) {
	r.jobs <- j
	r.running = true
}

// idle says whether no slice is running, waiting for the running one to end if wait is set.
func (r *refiner) idle(wait bool) bool {
	if r.running && wait {
		<-r.done
		r.running = false
	}
	if r.running {
		select {
		case <-r.done:
			r.running = false
		default:
		}
	}
	return !r.running
}

// close ends the goroutine, after the slice that is running; a second call does nothing.
func (r *refiner) close() {
	if r.jobs == nil {
		return
	}
	r.idle(true)
	close(r.jobs)
	<-r.done
	r.jobs = nil
}

// learner is what one slice leaves to the next: the weights, Adam's moments, the replay buffer and the random source.
type learner struct {
	net     *Network  // the weights being moved
	anchor  []float64 // the weights that the prior pulls towards
	average []float64 // exponential average of the moved weights: what is published
	adam
	scaled bool // the network's centre and scale are settled
	replay replay
	pcg    *rand.PCG
	rng    *rand.Rand

	tape              *tape
	grad              []float64
	x, y, prior, gain []float64 // a mini-batch: as in transitions, and the precision of y over the batch's size
}

// newLearner starts at the weights of start, which it copies; scaled says whether start's centre and scale are to be kept.
func newLearner(start *Network, scaled bool, capacity int, memory float64, seed uint64) *learner {
	n, pcg := start.Size(), rand.NewPCG(seed, 2)
	zeros := func(n int) []float64 { return make([]float64, n) }
	return &learner{
		net: start.Clone(), anchor: slices.Clone(start.Weights), average: slices.Clone(start.Weights),
		adam: newAdam(n), scaled: scaled,
		replay: replay{transitions: *newTransitions(start.Dim, capacity), memory: memory},
		pcg:    pcg, rng: rand.New(pcg),
		tape: newTape(start, batchSize), grad: zeros(n),
		x: zeros(batchSize * start.Dim), y: zeros(batchSize * start.Dim),
		prior: zeros(batchSize * start.Dim), gain: zeros(batchSize * start.Dim),
	}
}

// slice takes in the job's transitions and moves the weights by its number of Adam steps down doc.go (8).
func (l *learner) slice(j job) {
	l.replay.take(j.in, l.rng)
	if !l.scaled {
		l.net.fit(&l.replay.transitions)
		l.scaled = true
	}
	pull := priorPrecision / min(float64(l.replay.seen), l.replay.memory)
	for range j.steps {
		l.draw(j)
		l.tape.forward(l.net, l.x)
		for k, mu := range l.tape.out.Data {
			l.tape.dOut.Data[k] = l.gain[k] * (mu - l.y[k] + j.priorSeconds*(mu-l.prior[k]))
		}
		l.tape.backward(l.grad, l.net)
		for k, w := range l.net.Weights {
			l.grad[k] += pull * (w - l.anchor[k])
		}
		l.descend(l.net.Weights, l.grad, learningRate)
		l.follow()
	}
}

// draw fills the mini-batch from the replay buffer, with replacement.
func (l *learner) draw(j job) {
	d := l.net.Dim
	for b := range batchSize {
		x, y, prior, dt := l.replay.row(l.rng.IntN(l.replay.len()))
		copy(l.x[b*d:], x)
		copy(l.y[b*d:], y)
		copy(l.prior[b*d:], prior)
		precisions(l.gain[b*d:(b+1)*d], j.found, *dt)
	}
	for k := range l.gain {
		l.gain[k] /= batchSize
	}
}

// follow moves the average after the weights; it forgets its beginnings faster.
func (l *learner) follow() {
	t := float64(l.steps)
	keep := min(averaging, (1+t)/(10+t))
	for k, w := range l.net.Weights {
		l.average[k] = keep*l.average[k] + (1-keep)*w
	}
}

// precisions writes the inverse variance of y = Δm/Δt in each dimension, doc.go (7), and 0 where nothing is known or moves.
func precisions(dst []float64, found []diffusion, dt float64) {
	for i, f := range found {
		dst[i] = 0
		if s := f.v*dt + 2*f.noise; s > 0 {
			dst[i] = dt * dt / s
		}
	}
}

// fit sets Centre and Scale to the mean and standard deviation, over all dimensions together, of where the steps began.
func (n *Network) fit(t *transitions) {
	clear(n.Centre)
	for k := range t.len() {
		x, _, _, _ := t.row(k)
		for i, v := range x {
			n.Centre[i] += v / float64(t.len())
		}
	}
	sum := 0.0
	for k, v := range t.x {
		sum += (v - n.Centre[k%n.Dim]) * (v - n.Centre[k%n.Dim])
	}
	if sum > 0 {
		n.Scale = math.Sqrt(sum / float64(len(t.x)))
	}
}
