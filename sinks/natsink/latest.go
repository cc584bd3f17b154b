package natsink

import (
	"bytes"
	"encoding/json"
	"sync"

	"driftscope/internal/flow/latent"
)

// maxEvents bounds the events that a snapshot holds, so that a page opened late has a history.
const maxEvents = 100

// latest holds the last record of every kind, and the last events. It may be used from any goroutine.
type latest struct {
	mu     sync.Mutex
	lines  map[latent.Kind][]byte
	events []json.RawMessage // oldest first
}

// keep copies line.
func (l *latest) keep(kind latent.Kind, line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == nil {
		l.lines = map[latent.Kind][]byte{}
	}
	l.lines[kind] = append(l.lines[kind][:0], line...)
	if kind == latent.KindEvent {
		l.events = append(l.events[max(0, len(l.events)+1-maxEvents):], bytes.Clone(line))
	}
}

// last returns a copy of the last record of a kind, or nil if there is none.
func (l *latest) last(kind latent.Kind) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.lines[kind])
}

// snapshot returns one JSON object with the last record of each kind under the kind's name, and the last events.
func (l *latest) snapshot(stream string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	record := map[string]any{"v": latent.Version, "kind": "snapshot", "stream": stream, "events": l.events}
	for kind, line := range l.lines {
		record[string(kind)] = json.RawMessage(line)
	}
	return json.Marshal(record)
}
