package cluster

import (
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/latent"
	"driftscope/internal/site"
	"driftscope/sinks/message"
)

// holders records the process that claims each epoch: an epoch of a stream must not have two.
type holders struct {
	mu     sync.Mutex
	by     map[tenant]holding
	shared []string // epochs claimed twice, for people
	heard  uint64
}

// tenant is an epoch of a stream.
type tenant struct {
	stream string
	epoch  uint64
}

// holding is the first claim and its time of arrival here.
type holding struct {
	id string
	at time.Time
}

// claimed returns when the first epoch of a stream after beyond was claimed; ok is false if there is none.
func (h *holders) claimed(stream string, beyond uint64) (at time.Time, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, x := range h.by {
		if key.stream == stream && key.epoch > beyond && (!ok || x.at.Before(at)) {
			at, ok = x.at, true
		}
	}
	return at, ok
}

// note records a claim.
func (h *holders) note(stream string, epoch uint64, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := tenant{stream, epoch}
	switch before, known := h.by[key]; {
	case !known:
		h.by[key] = holding{id, time.Now()}
	case before.id != id:
		h.shared = append(h.shared, fmt.Sprintf("stream %s: epoch %d is %s's and %s's", stream, epoch, before.id, id))
	}
}

// hear records a worker's message.
func (h *holders) hear(m *nats.Msg) {
	record, err := message.Decode(latent.KindWorker, m.Data)
	if err != nil {
		return
	}
	w := record.(*message.WorkerRecord)
	h.mu.Lock()
	h.heard++
	h.mu.Unlock()
	for _, r := range w.Streams {
		h.note(r.Name, r.Epoch, w.ID)
	}
}

// look reads the leases and records which worker claims each stream.
func (h *holders) look(leases []site.Lease) {
	for _, l := range leases {
		if l.State == site.Taken && l.Record.Epoch != 0 {
			h.note(l.Stream, l.Record.Epoch, l.Record.ID)
		}
	}
}

// twice returns the epochs with two claims.
func (h *holders) twice() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shared
}
