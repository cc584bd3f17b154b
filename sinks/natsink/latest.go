package natsink

import (
	"encoding/json"
	"slices"
	"sync"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// latest holds the last record of every kind. It may be used from any goroutine.
type latest struct {
	mu    sync.Mutex
	lines map[latent.Kind][]byte
}

// keep copies line.
func (l *latest) keep(kind latent.Kind, line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines == nil {
		l.lines = map[latent.Kind][]byte{}
	}
	l.lines[kind] = append(l.lines[kind][:0], line...)
}

// last returns a copy of the last record of a kind, or nil if there is none.
func (l *latest) last(kind latent.Kind) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines[kind])
}

// snapshot returns one JSON object with the last record of each kind under the kind's name.
func (l *latest) snapshot(stream string) ([]byte, error) {
	return json.Marshal(struct {
		message.Header
		Latent json.RawMessage `json:"latent,omitempty"`
		SDE    json.RawMessage `json:"sde,omitempty"`
		Event  json.RawMessage `json:"event,omitempty"`
		Health json.RawMessage `json:"health,omitempty"`
		View   json.RawMessage `json:"view,omitempty"`

		Trigger json.RawMessage `json:"trigger,omitempty"`

		Objects    json.RawMessage `json:"objects,omitempty"`
		Population json.RawMessage `json:"population,omitempty"`
	}{
		message.Header{V: latent.Version, Kind: "snapshot", Stream: stream},
		l.last(latent.KindLatent), l.last(latent.KindSDE), l.last(latent.KindEvent), l.last(latent.KindHealth), l.last(latent.KindView), l.last(latent.KindTrigger),
		l.last(latent.KindObjects), l.last(latent.KindPopulation),
	})
}
