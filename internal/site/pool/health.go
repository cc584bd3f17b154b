package pool

import (
	"maps"
	"slices"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// Codes of an experiment's events.
const (
	CameraLeftOut = "camera_left_out" // a warning; health has its count under alarms
	CameraBack    = "camera_back"
)

// health returns the state of the experiment, whose frames are its cameras' records.
func (p *pooling) health(now time.Time) *message.HealthRecord {
	m := p.members
	h := latent.Health{Time: now.UTC(), State: "starting", UptimeS: now.Sub(p.started).Seconds(), Frames: m.taken, Tracked: m.tracked, Dropped: maps.Clone(m.dropped),
		Alarms: map[string]uint64{}, Published: p.published, Queue: len(p.messages), Stages: []latent.Stage{}}
	if n := p.overrun(); n > 0 { // the client library has dropped them
		h.Dropped[queueFull] = n
		h.Frames += n
	}
	if m.outs > 0 {
		h.Alarms[CameraLeftOut] = m.outs
	}
	switch {
	case len(m.in()) > 0:
		h.State = "tracking"
	case p.law > 0:
		h.State = "source_lost"
	}
	if s := now.Sub(p.rated).Seconds(); s > 0 {
		h.FPS = float64(m.tracked-p.before) / s
	}
	p.before, p.rated = m.tracked, now
	return &message.HealthRecord{Header: message.Header{V: latent.Version, Kind: latent.KindHealth, Stream: p.name}, Health: h, Cameras: m.cameras()}
}

// event converts an event to its record.
func (p *pooling) event(e latent.Event) *message.EventRecord {
	e.Seq, e.Time = p.seq, e.Time.UTC()
	return &message.EventRecord{Header: message.Header{V: latent.Version, Kind: latent.KindEvent, Stream: p.name}, Event: e}
}

// end publishes the last health, with the state stopped and the cause of a failure.
func (p *pooling) end(why error) error {
	h := p.health(time.Now())
	h.State, h.FPS, h.Queue = "stopped", 0, 0
	if why != nil {
		h.Problem = why.Error()
	}
	return p.send(latent.KindHealth, h)
}

// cameras returns all members for health, sorted by name.
func (m *members) cameras() (list []message.CameraRecord) {
	for _, stream := range slices.Sorted(maps.Keys(m.all)) {
		of := m.all[stream]
		if m.unasked(of) {
			continue
		}
		c := message.CameraRecord{Stream: stream, Out: of.out, Silences: of.silences}
		if of.records > 0 {
			heard := of.heard.UTC()
			c.Heard = &heard
		}
		switch {
		case c.Out != "" || of.known:
		case c.Heard == nil:
			c.Out = "not heard yet"
		default:
			c.Out = lawless
		}
		list = append(list, c)
	}
	return list
}

// overrun returns how many messages were lost because the queue was full.
func (p *pooling) overrun() (n uint64) {
	for _, s := range p.subscriptions {
		if dropped, err := s.Dropped(); err == nil && dropped > 0 {
			n += uint64(dropped)
		}
	}
	return n
}
