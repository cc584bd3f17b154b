package work

import (
	"context"
	"errors"
	"slices"
	"time"

	"driftscope/internal/kit/console"
	"driftscope/internal/site"
	"driftscope/sinks/message"
	"driftscope/sinks/natsink"
)

const (
	steady = 2 * time.Second // how long the plan must assign a stream to another worker before it is handed over; records of one change arrive within some hundred milliseconds
	turn   = 2 * time.Second // time that a worker waits for each worker before it in the stream's order
	lately = 5 * time.Second // time limit for reading the stored data of a stream and claiming its lease
)

// look does this worker's part of the plan.
func (w *Worker) look(ctx context.Context, s *site.Snapshot) {
	if !s.Read {
		return
	}
	w.count(s)
	plan := s.Plan()
	held := map[string]site.Lease{}
	for _, l := range s.Leases {
		held[l.Stream] = l
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.compare(s.Workers)
	w.waiting = w.waiting[:0:0]
	for _, x := range plan.Waiting {
		w.waiting = append(w.waiting, message.WaitingRecord{Name: x.Stream, Why: x.Why})
	}
	clear(w.cores)
	desired := map[string]bool{}
	for _, all := range [][]site.Stream{s.Streams, s.Vanished} {
		for i := range all {
			d := &all[i]
			desired[d.Name] = true
			w.cores[d.Name] = d.Cores
			if r := w.runs[d.Name]; r != nil {
				r.desire(d.Config)
				w.keepOrPass(ctx, r, plan.Places[d.Name])
			} else if w.wants(d.Name, held[d.Name], plan) {
				w.tasks.Go(func() { w.claim(ctx, d.Name, d.Config) })
			}
		}
	}
	for name, r := range w.runs {
		if !desired[name] && !r.leaving {
			r.leaving = true
			console.Say("stream %s is removed", name)
			w.tasks.Go(func() { w.giveUp(ctx, r, "") })
		}
	}
	for name := range w.claims {
		if !desired[name] {
			delete(w.claims, name)
		}
	}
}

// count adds this worker to the snapshot if the server's records lack it.
func (w *Worker) count(s *site.Snapshot) {
	if slices.ContainsFunc(s.Workers, func(o site.Worker) bool { return o.Name == w.o.Name }) {
		return
	}
	s.Workers = append(slices.Clone(s.Workers), site.Worker{Name: w.o.Name, ID: w.leases.ID(), Cores: w.o.Cores, Labels: w.o.Labels, Version: w.o.Version})
}

// compare reports other builds, once each. The caller holds the lock.
func (w *Worker) compare(workers []site.Worker) {
	for _, o := range workers {
		if o.Version != w.o.Version && !w.builds[o.Version] {
			w.builds[o.Version] = true
			console.Warn("worker %s has the build %.64q, but this worker has %s: a build may be unable to read another build's laws and then starts with a new law: use one build", o.Name, o.Version, w.o.Version)
		}
	}
}

// keepOrPass hands over a stream that the plan has assigned to another worker for long enough. The lock is held.
func (w *Worker) keepOrPass(ctx context.Context, r *run, to string) {
	if to == "" || to == w.o.Name {
		delete(w.elsewhere, r.name)
		return
	}
	if before := w.elsewhere[r.name]; before.to != to {
		w.elsewhere[r.name] = wish{to, time.Now()}
		return
	} else if time.Since(before.since) < steady || r.leaving {
		return
	}
	r.leaving = true
	console.Say("stream %s moves to worker %s", r.name, to)
	w.tasks.Go(func() { w.giveUp(ctx, r, to) })
}

// wants reports whether a stream that this worker does not run should be claimed now. The lock is held.
func (w *Worker) wants(name string, held site.Lease, plan *site.Plan) bool {
	now := time.Now()
	c := w.claims[name]
	if c == nil {
		c = &claim{alone: now}
		w.claims[name] = c
	}
	if held.State == site.Taken {
		c.alone = now
	}
	order := plan.Turn(w.o.Name, name)
	if w.draining || c.busy || order < 0 || now.Before(c.again) || now.Sub(c.alone) < time.Duration(order)*turn {
		return false
	}
	if order > 0 && held.State == site.Taken {
		return false
	}
	c.busy = true
	return true
}

// claim tries to take a stream, and runs it if that succeeds.
func (w *Worker) claim(ctx context.Context, name, text string) {
	before := w.holder(name)
	held, err := w.take(ctx, name)
	w.mu.Lock()
	c := w.claims[name]
	if c == nil {
		c = &claim{}
	}
	c.busy = false
	if err != nil {
		c.again = time.Now().Add(time.Second)
		var wait *site.Wait
		if errors.As(err, &wait) {
			c.again = time.Now().Add(wait.Again)
			time.AfterFunc(wait.Again, w.nudge)
		} else if ctx.Err() == nil {
			console.Say("stream %s cannot be taken: %v", name, err)
		}
		w.mu.Unlock()
		return
	}
	r := newRun(name, text, held)
	if w.draining {
		w.mu.Unlock()
		w.release(ctx, r, "")
		return
	}
	w.runs[name] = r
	ctx, r.stop = context.WithCancel(ctx)
	w.mu.Unlock()
	console.Say("stream %s runs here at epoch %d%s", name, held.Epoch(), from(before))
	w.run(ctx, r, before)
	w.after(ctx, r)
}

// after gives up a run that ended on its own. The next claim will have an epoch larger than the stored data's.
func (w *Worker) after(ctx context.Context, r *run) {
	if err := r.held.Err(); err != nil && !errors.Is(err, site.ErrReleased) {
		console.Say("stream %s no longer runs here: its lease is lost: %v", r.name, err)
	}
	w.mu.Lock()
	given := r.leaving
	if c := w.claims[r.name]; c != nil {
		c.after, c.again = nil, time.Now().Add(time.Second)
	}
	w.mu.Unlock()
	if !given && r.held.Valid() {
		w.release(ctx, r, "")
	}
	w.forget(r)
}

// from names the earlier worker of a stream, for display.
func from(before string) string {
	if before == "" {
		return ""
	}
	return ", taken over from " + before
}

// holder returns the last known worker of a stream.
func (w *Worker) holder(name string) string {
	for _, l := range w.site.Leases() {
		if l.Stream == name && l.Record.Worker == w.o.Name && l.Record.ID != w.leases.ID() {
			return l.Record.Worker + ", which was restarted"
		}
		if l.Stream == name {
			return l.Record.Worker
		}
	}
	return ""
}

// take claims a stream with an epoch larger than its stored data's.
func (w *Worker) take(ctx context.Context, name string) (*site.Held, error) {
	ctx, done := context.WithTimeout(ctx, lately)
	defer done()
	w.mu.Lock()
	var after *uint64
	if c := w.claims[name]; c != nil {
		after = c.after
	}
	w.mu.Unlock()
	if after == nil {
		standing, err := natsink.Stand(ctx, w.bus, name)
		if err != nil {
			return nil, err
		}
		after = &standing.Epoch
		w.mu.Lock()
		if c := w.claims[name]; c != nil {
			c.after = after
		}
		w.mu.Unlock()
	}
	return w.leases.Claim(ctx, name, *after)
}

// giveUp ends a run and frees its lease for the worker called to, or for any worker if to is empty.
func (w *Worker) giveUp(ctx context.Context, r *run, to string) {
	w.mu.Lock()
	r.leaving = true
	w.mu.Unlock()
	r.stop()
	<-r.gone
	w.release(ctx, r, to)
	w.forget(r)
}

// release frees the lease. If that fails, another worker can claim it after a TTL.
func (w *Worker) release(ctx context.Context, r *run, to string) {
	if to == w.o.Name {
		to = ""
	}
	ctx, done := context.WithTimeout(ctx, w.site.TTL())
	defer done()
	if err := r.held.Release(ctx, to); err != nil {
		console.Say("stream %s: other workers can take it after %v: %v", r.name, w.site.TTL(), err)
	}
}

// forget removes a run from the list, unless another run of its stream has begun.
func (w *Worker) forget(r *run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.runs[r.name] == r {
		delete(w.runs, r.name)
		delete(w.elsewhere, r.name)
	}
}
