package lease

import (
	"errors"
	"time"
)

// renew renews every third of a TTL until the lease is lost.
func (h *Held) renew(started time.Duration) {
	defer close(h.ended)
	defer h.forget()
	for {
		due := time.NewTimer(max(started+h.of.ttl/3-h.b.fence(), 0))
		select {
		case <-h.lost:
			due.Stop()
			return
		case <-h.hasten:
			due.Stop()
		case <-due.C:
		}
		if h.pending == nil {
			h.pending = &write{key: h.stream, value: h.record.bytes(), expected: h.revision}
		}
		if h.attempt() {
			started = h.pending.started
			h.pending = nil
			continue
		}
		select {
		case <-h.lost:
			return
		case <-time.After(h.of.ttl / 50):
		}
	}
}

// attempt sends the pending renewal once. It is false where the answer is not that it was accepted.
func (h *Held) attempt() bool {
	revision, err := h.b.put(h.b.ctx, h.pending, h.of.ttl/6)
	if errors.As(err, new(newer)) {
		h.lose(ErrStolen)
		h.b.doubt()
		return false
	}
	if err != nil {
		h.b.doubt()
		h.hurry()
		return false
	}
	h.revision = revision
	h.extend(h.pending.started)
	return true
}

// forget takes the lease out of those that are held.
func (h *Held) forget() {
	h.guard.Stop()
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	if h.b.held[h.stream] == h {
		delete(h.b.held, h.stream)
	}
	h.b.tell()
}
