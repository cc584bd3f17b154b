package online

// refiner owns the goroutine that runs the learner's slices beside the frame path. The learner may be touched from outside
// only while no slice is running.
type refiner struct {
	learner *learner
	jobs    chan job
	done    chan struct{}
	running bool // a job is out; its done has not been received
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
