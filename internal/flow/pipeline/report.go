package pipeline

import (
	"context"
	"time"

	"driftscope/internal/flow/latent"
)

// The states of a stream in Health.
const (
	starting = "starting"
	tracking = "tracking"
	away     = "source_lost"
	stopped  = "stopped"
)

// report publishes Health, unreported losses and the remarks of the reader until ended is closed or ctx ends.
func (r *runner) report(ctx context.Context, ended <-chan struct{}) {
	tick := time.NewTicker(r.o.Health)
	defer tick.Stop()
	last, tracked := time.Now(), uint64(0)
	for {
		select {
		case <-ended:
			return
		case <-ctx.Done():
			return
		case e := <-r.remarks:
			r.publish(ctx, e, time.Time{})
		case <-r.lost:
			r.tellLosses(ctx, time.Now(), false)
		case now := <-tick.C:
			r.tellLosses(ctx, now, false)
			for _, e := range r.counters.dueRemarks(now, false) {
				r.remark(ctx, &e)
			}
			h := r.health(last, tracked)
			last, tracked = now, h.Tracked
			r.publish(ctx, &h, time.Time{})
		}
	}
}

// finalHealth publishes the last messages of the stream: unreported losses, the reason for the end, and the last Health.
func (r *runner) finalHealth(ctx context.Context) {
	for len(r.remarks) > 0 { // the reader has ended
		r.publish(ctx, <-r.remarks, time.Time{})
	}
	r.tellLosses(ctx, time.Now(), true)
	for _, e := range r.counters.dueRemarks(time.Now(), true) {
		r.log.Warn(e.Code, "seq", e.Seq, "what", e.Text, "count", e.Count)
		r.publish(ctx, &e, time.Time{})
	}
	end := latent.Event{Seq: r.counters.lastSeq(), Time: time.Now(), Level: latent.Info, Code: "stream_ended", Text: "the stream ended", Count: 1}
	if err := r.cause(); err != nil {
		end.Level, end.Code, end.Text = latent.Error, "stream_failed", err.Error()
	}
	r.publish(ctx, &end, time.Time{})
	h := r.last()
	r.publish(ctx, &h, time.Time{})
}

// last returns the health at the end.
func (r *runner) last() latent.Health {
	h := r.health(r.started, 0)
	h.State = stopped
	if err := r.cause(); err != nil {
		h.Problem = err.Error()
	}
	return h
}

// health returns the present state. Its FPS is the mean since the given time, at which tracked frames had been tracked.
func (r *runner) health(since time.Time, tracked uint64) latent.Health {
	now, clocks := time.Now(), r.clocks()
	h := latent.Health{
		Time: now, State: starting, UptimeS: now.Sub(r.started).Seconds(), Queue: r.frames.len(),
		Stages: make([]latent.Stage, len(clocks)),
	}
	r.counters.health(&h)
	if h.Tracked > 0 {
		h.State = tracking
	}
	if r.sourceLost.Load() {
		h.State = away
	}
	if span := now.Sub(since).Seconds(); span > 0 {
		h.FPS = float64(h.Tracked-tracked) / span
	}
	for i, c := range clocks {
		h.Stages[i] = c.stage()
	}
	return h
}
