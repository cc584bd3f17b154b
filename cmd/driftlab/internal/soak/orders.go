package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// answered is the longest wait for the answer to a command.
const answered = 10 * time.Second

// commandFaults returns faults by valid and invalid commands, as people and programs send them.
func (r *rig) commandFaults() []*fault {
	any := func(rng *rand.Rand) *stream { return r.streams[rng.IntN(len(r.streams))] }
	var whole []*stream // streams whose frames fit the shipped model; other frames are too small
	for _, s := range r.streams {
		if s.kind == "sim" {
			whole = append(whole, s)
		}
	}
	order := func(name string, happen func(context.Context, *rand.Rand)) *fault {
		return &fault{name: name, hits: []string{name}, when: throughout, happen: happen}
	}
	faults := []*fault{
		order("a run recorded and repeated, or killed and replayed", r.recorded),
		order("another model, and back", func(ctx context.Context, rng *rand.Rand) {
			s := whole[rng.IntN(len(whole))]
			if r.order(s, "model", `{"name":"other"}`) == "ok" {
				pause(ctx, between(rng, time.Second, 5*time.Second))
				r.order(s, "model", `{"back":true}`)
			}
		}),
		order("freeze, resume", func(ctx context.Context, rng *rand.Rand) {
			s := any(rng)
			r.order(s, "freeze", "")
			pause(ctx, between(rng, time.Second, 4*time.Second))
			r.order(s, "resume", "")
		}),
		order("pause, resume", func(ctx context.Context, rng *rand.Rand) {
			s := any(rng)
			r.order(s, "pause", "")
			pause(ctx, between(rng, time.Second, 4*time.Second))
			for range 10 { // repeat until an answer arrives, because a paused stream tracks nothing
				if r.order(s, "resume", "") == "ok" {
					return
				}
				time.Sleep(time.Second)
			}
		}),
		order("reset", func(_ context.Context, rng *rand.Rand) { r.order(any(rng), "reset", "") }),
		order("checkpoint", func(_ context.Context, rng *rand.Rand) { r.order(any(rng), "checkpoint", "") }),
		order("roll_back", func(_ context.Context, rng *rand.Rand) { r.order(any(rng), "roll_back", "") }),
		order("invalid commands", func(_ context.Context, rng *rand.Rand) {
			s := any(rng)
			for i := range 100 {
				s.program.hub.nc.PublishRequest(subjects+s.name+fmt.Sprintf(".cmd.none%d", i), s.program.hub.nc.NewInbox(), []byte("?"))
			}
			r.order(s, "roi", `{"x":-1}`)
			r.order(s, "model", `{"name":"none"}`)
		}),
		order("the bucket of laws deleted", func(ctx context.Context, rng *rand.Rand) {
			h := any(rng).program.hub
			asking, done := context.WithTimeout(ctx, answered)
			defer done()
			if err := h.js.DeleteKeyValue(asking, "driftscope_local"); err != nil {
				r.say("the bucket was not deleted: %v", err)
			}
		}),
	}
	for _, s := range r.streams {
		if s.follows == nil {
			faults = append(faults, order("stop, start: "+s.name, func(ctx context.Context, rng *rand.Rand) { r.stopAndStart(ctx, rng, s) }))
		}
	}
	return faults
}

func (r *rig) order(s *stream, name, payload string) string {
	outcome, why := s.program.hub.command(s.name, name, payload, answered)
	r.say("  %s %s %s: %s %.200s", s.name, name, payload, outcome, why)
	return outcome
}

// stopAndStart stops a stream and starts it again.
func (r *rig) stopAndStart(ctx context.Context, rng *rand.Rand, s *stream) {
	r.order(s, "stop", "")
	pause(ctx, between(rng, time.Second, 4*time.Second))
	s.program.hub.settle()
	r.order(s, "start", "")
}

// keepStarted restarts stopped streams until ctx ends, unless a fault will restart them. So a failed stream counts as one failure and does not end the run.
func (r *rig) keepStarted(ctx context.Context) {
	for since := map[*stream]time.Time{}; pause(ctx, time.Second); {
		for _, s := range r.streams {
			if !s.stopped() {
				delete(since, s)
				continue
			}
			if since[s].IsZero() {
				since[s] = time.Now()
			}
			if time.Since(since[s]) > 15*time.Second {
				r.order(s, "start", "")
				since[s] = time.Now()
			}
		}
	}
}
