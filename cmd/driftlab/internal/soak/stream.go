package soak

import (
	"strings"
	"sync"
	"time"

	"driftscope/internal/flow/latent"
)

// inFlight is the largest number of frames between reading and tracking or dropping: the longest queue of the rig, 256, the lanes, and the frames that a
// source passes on at once.
const inFlight = 256 + 64

// stream is one stream of the rig, with all its observations.
type stream struct {
	name    string
	kind    string
	program *program
	kept    *kept
	source  func(life int) (string, error) // of the configuration, as YAML
	extra   string                         // more lines of the configuration
	follows *growing                       // nil for a live source
	wrong   func(format string, args ...any)

	mu       sync.Mutex
	health   []life // one per run of the stream
	seen     []spell
	state    string
	failures []string
	events   map[string]uint64
}

// life is a run of the stream by its health messages.
type life struct {
	begun time.Time // start, from the uptime
	last  live
}

// spell is a run of the stream by its live latents.
type spell struct {
	last  time.Time
	seq   uint64
	count uint64
}

// hear handles a live message.
func (s *stream) hear(kind latent.Kind, m *live) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case latent.KindHealth:
		s.hearHealth(m)
	case latent.KindEvent:
		s.events[m.Code]++
		if m.Code == "stream_failed" {
			s.failures = append(s.failures, m.Text)
		}
	case latent.KindLatent:
		now := time.Now()
		if n := len(s.seen); n == 0 || m.Seq <= s.seen[n-1].seq {
			s.seen = append(s.seen, spell{})
		}
		last := &s.seen[len(s.seen)-1]
		last.last, last.seq, last.count = now, m.Seq, last.count+1
	}
}

// hearHealth checks the counts. The caller holds s.mu.
func (s *stream) hearHealth(m *live) {
	s.state = m.State
	if m.UptimeS == 0 && m.Frames == 0 {
		return // a stopped stream before its start
	}
	begun := unstepped(m.Time).Add(-time.Duration(m.UptimeS * float64(time.Second)))
	if n := len(s.health); n == 0 || begun.Sub(s.health[n-1].begun) > time.Second && m.State != "stopped" {
		s.health = append(s.health, life{begun: begun})
	}
	s.health[len(s.health)-1].last = *m
	settled := m.Tracked + lostFrames(m.Dropped)
	if settled > m.Frames || m.Frames-settled > inFlight || m.State == "stopped" && m.Frames != settled {
		s.wrong("stream %s, %s: frames in %d, tracked %d, dropped %d: they do not add up", s.name, m.State, m.Frames, m.Tracked, lostFrames(m.Dropped))
	}
}

// lostFrames returns the total number of lost frames over all causes.
func lostFrames(dropped map[string]uint64) (n uint64) {
	for cause, count := range dropped {
		if !strings.HasPrefix(cause, "sink_") {
			n += count
		}
	}
	return n
}

// stopped reports whether the stream has ended while its process keeps running.
func (s *stream) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state == "stopped"
}

// tracked returns the number of tracked frames in the newest health message.
func (s *stream) tracked() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.health) == 0 {
		return 0
	}
	return s.health[len(s.health)-1].last.Tracked
}
