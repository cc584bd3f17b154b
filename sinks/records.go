package sinks

import (
	"encoding/json"
	"slices"
	"sync"

	"driftscope/internal/latent"
)

// records holds the last record of every kind. It may be used from any goroutine.
type records struct {
	mu    sync.Mutex
	lines map[latent.Kind][]byte
}

// keep copies line.
func (r *records) keep(kind latent.Kind, line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lines == nil {
		r.lines = map[latent.Kind][]byte{}
	}
	r.lines[kind] = append(r.lines[kind][:0], line...)
}

// last is a copy of the last record of a kind, nil where there was none.
func (r *records) last(kind latent.Kind) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines[kind])
}

// snapshot is one object with the last record of each kind under the kind's name.
func (r *records) snapshot(stream string) ([]byte, error) {
	return json.Marshal(struct {
		Header
		Latent json.RawMessage `json:"latent,omitempty"`
		SDE    json.RawMessage `json:"sde,omitempty"`
		Event  json.RawMessage `json:"event,omitempty"`
		Health json.RawMessage `json:"health,omitempty"`
		View   json.RawMessage `json:"view,omitempty"`

		Trigger json.RawMessage `json:"trigger,omitempty"`
	}{
		Header{latent.Version, "snapshot", stream},
		r.last(latent.KindLatent), r.last(latent.KindSDE), r.last(latent.KindEvent), r.last(latent.KindHealth), r.last(latent.KindView), r.last(latent.KindTrigger),
	})
}
