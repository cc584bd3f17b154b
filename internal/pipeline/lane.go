package pipeline

import (
	"context"
	"time"

	"driftscope/internal/latent"
)

// lane takes one frame after the other from the camera's picture to its estimate. Lanes go side by side: steps that need the frames in
// order are shared and stand behind sequencers, everything else a lane has for itself.
type lane struct {
	tracker  *tracker
	pool     *workerPool // that this lane is of; the tracker's may be another by now
	stages   []stage
	encoder  Encoder
	encoding *clock
	z        latent.Latent // reused
}

// stage is a step on a lane.
type stage struct {
	name      string
	clock     *clock
	step      Step
	sequencer *sequencer // nil where the step is this lane's own
}

// run takes frames until they end, or another pool takes them.
func (l *lane) run(p phases) {
	for {
		t, ok := l.tracker.next(p, l.pool)
		if !ok {
			return
		}
		l.track(p.track, t)
	}
}

// track brings one frame through every sequencer to its estimate, or to the account of those that got none.
func (l *lane) track(ctx context.Context, t ticket) {
	defer l.tracker.flight.leave(t.size)
	stage, err := l.encode(ctx, t)
	l.tracker.last.enter(t.number)
	tracked := l.tracker.conclude(ctx, t.frame, &l.z, stage, err)
	l.tracker.last.leave()
	if t.frame.Meta.Overview != nil {
		l.pool.preview.take(t.frame, &l.z, tracked)
		return
	}
	t.frame.Close()
}

// encode runs the steps and the encoder; with an error it names the stage. A frame that is refused only passes the sequencers.
func (l *lane) encode(ctx context.Context, t ticket) (where string, err error) {
	f, err := t.frame, t.refused
	light := f.Light() // before any step changes it
	for i := range l.stages {
		s := &l.stages[i]
		if s.sequencer != nil {
			s.sequencer.enter(t.number)
		}
		if err == nil {
			start := time.Now()
			if err = s.step.Apply(ctx, f); err != nil {
				where = s.name
			}
			s.clock.since(start)
		}
		if s.sequencer != nil {
			s.sequencer.leave()
		}
	}
	if err != nil {
		return where, err
	}
	start := time.Now()
	if err := l.encoder.Encode(ctx, &l.z, f); err != nil {
		return "encoder", err
	}
	l.encoding.since(start)
	l.z.Seq, l.z.Time, l.z.Trajectory, l.z.Light = f.Seq, f.Time, f.Meta.Trajectory, light
	l.z.Centroid = append(l.z.Centroid[:0], f.Meta.Centroid...)
	return "", nil
}
