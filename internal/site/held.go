// Two workers never hold one lease
//
// A holder counts a lease as valid for two thirds of a TTL from the beginning of the last renewal that succeeded, by its own monotonic clock, which also
// counts suspended time. After that the lease is lost for good, whatever the server answers later.
//
// Another process takes a key only if one of these is true, by its own monotonic clock:
//   - it has seen no change of the key's revision for a TTL, and an Update of that revision succeeds, or a Create if the server has forgotten the key; or
//   - the holder itself wrote that the lease is free; or
//   - it was the holder, has lost the lease, and an Update of its own revision succeeds; or
//   - it has watched the bucket for a TTL and has never seen the key.
//
// The server accepted the holder's last renewal after that call began, and other processes saw its revision even later. So they wait longer than the
// holder's lease is valid, and a third of a TTL remains for messages in flight. The time of day on a machine does not matter: the server's clock decides
// when it forgets a key, but every process also waits by its own clock. A deleted key is treated like a vanished one.

package site

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Why a lease is lost.
var (
	ErrFenced   = errors.New("it was not renewed for two thirds of a TTL: this process was suspended or could not reach the server")
	ErrStolen   = errors.New("another process wrote to it")
	ErrRemade   = errors.New("the bucket of leases was deleted and made again")
	ErrReleased = errors.New("it was released")
)

// Held is a lease that this process holds, until it is lost. It may be used from any goroutine.
type Held struct {
	b      *Leases
	record Record
	stream string
	of     generation

	until atomic.Int64 // end of validity, by the fence's clock, ns; 0 means lost
	guard *time.Timer  // checks whether until has passed

	end    sync.Once
	lost   chan struct{} // closed when it is lost
	err    error         // reason; set before lost is closed
	hasten chan struct{} // has a token if the next renewal is due now
	ended  chan struct{} // closed when renewals have ended

	revision uint64 // used by the renewing goroutine, then by Release
	pending  *write // renewal without an answer; used like revision
}

// was is a lease that this process has held.
type was struct {
	made  time.Time // creation of the bucket
	epoch uint64
}

// hold begins to renew a claim.
func (b *Leases) hold(c *claim) (*Held, error) {
	h := &Held{b: b, record: c.record, stream: c.stream, of: c.of, revision: c.revision,
		lost: make(chan struct{}), hasten: make(chan struct{}, 1), ended: make(chan struct{})}
	h.until.Store(int64(c.started + valid(c.of.ttl)))
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.is.made.Equal(c.of.made) || b.held[c.stream] != nil || b.ctx.Err() != nil {
		return nil, fmt.Errorf("lease of %s: %w", c.stream, ErrRemade)
	}
	if !h.Valid() {
		return nil, fmt.Errorf("lease of %s: %w", c.stream, ErrFenced)
	}
	b.held[c.stream], b.lost[c.stream] = h, was{c.of.made, c.record.Epoch}
	h.guard = time.AfterFunc(MostTTL, h.look)
	h.guard.Reset(valid(c.of.ttl)) // only after guard is set
	b.work.Go(func() { h.renew(c.started) })
	return h, nil
}

// valid returns how long a renewal is valid. Other processes wait for at least a TTL; the difference allows for messages in flight.
func valid(ttl time.Duration) time.Duration { return ttl * 2 / 3 }

// Stream returns the stream of the lease.
func (h *Held) Stream() string { return h.stream }

// Epoch returns the epoch of the claim, which is unique and larger than all earlier ones.
func (h *Held) Epoch() uint64 { return h.record.Epoch }

// Record returns the value of the lease.
func (h *Held) Record() Record { return h.record }

// Lost returns a channel that closes when the lease is lost. A lost lease never becomes valid again.
func (h *Held) Lost() <-chan struct{} { return h.lost }

// Err returns why the lease is lost; nil while it is held.
func (h *Held) Err() error {
	select {
	case <-h.lost:
		return h.err
	default:
		return nil
	}
}

// Valid reports whether this process may publish. It takes no lock. After the process slept through its lease, it returns false at once and for ever.
func (h *Held) Valid() bool {
	for {
		until := h.until.Load()
		if until == 0 {
			return false
		}
		if int64(h.b.fence()) < until {
			return true
		}
		if h.until.CompareAndSwap(until, 0) {
			h.lose(ErrFenced)
			return false
		}
	}
}

// extend applies a renewal that began at started. It returns false if the renewal is too late.
func (h *Held) extend(started time.Duration) bool {
	until := h.until.Load()
	return h.Valid() && h.until.CompareAndSwap(until, max(until, int64(started+valid(h.of.ttl))))
}

// look notices that the lease has become invalid, even if no caller checks.
func (h *Held) look() {
	if h.Valid() {
		h.guard.Reset(max(time.Duration(h.until.Load())-h.b.fence(), time.Millisecond))
	}
}

// lose ends the lease.
func (h *Held) lose(why error) {
	h.end.Do(func() {
		h.until.Store(0)
		h.err = why
		close(h.lost)
	})
}

// hurry requests a renewal now, to find out whether the lease is still held.
func (h *Held) hurry() {
	select {
	case h.hasten <- struct{}{}:
	default:
	}
}

// Release frees the lease for the worker called to, or for any worker if to is empty. The caller must have published everything. Other workers
// can claim at once, or after a TTL if the server does not confirm before ctx or the lease ends.
func (h *Held) Release(ctx context.Context, to string) error {
	if to != "" && !token(to) {
		return fmt.Errorf("lease of %s: to: found %.70q, expected a worker's name", h.stream, to)
	}
	if !h.Valid() {
		return fmt.Errorf("lease of %s: it is lost already: %w", h.stream, h.err)
	}
	end := time.Duration(h.until.Load()) // a bucket that is made again may have this revision later
	h.b.mu.Lock()
	h.b.busy[h.stream] = true
	h.b.mu.Unlock()
	defer h.b.done(h.stream)
	h.lose(ErrReleased)
	if !errors.Is(h.err, ErrReleased) {
		return fmt.Errorf("lease of %s: it is lost already: %w", h.stream, h.err)
	}
	select {
	case <-h.ended:
	case <-ctx.Done():
		return fmt.Errorf("lease of %s: the server has not answered a renewal: %w", h.stream, ctx.Err())
	}
	if h.pending != nil {
		revision, err := h.b.put(ctx, h.pending, h.of.ttl/3)
		if err != nil {
			return fmt.Errorf("lease of %s: %w", h.stream, err)
		}
		h.revision = revision
	}
	r := h.record
	r.Free, r.To = true, to
	if _, err := h.b.insist(ctx, &write{key: h.stream, value: r.bytes(), expected: h.revision}, end, h.of.ttl/6); err != nil {
		return fmt.Errorf("lease of %s: %w", h.stream, err)
	}
	return nil
}

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

// attempt sends the pending renewal once. It returns whether the server accepted it.
func (h *Held) attempt() bool {
	revision, err := h.b.put(h.b.ctx, h.pending, h.of.ttl/6)
	if errors.As(err, new(newer)) {
		h.lose(ErrStolen)
		h.b.bucket.Doubt()
		return false
	}
	if err != nil {
		h.b.bucket.Doubt()
		h.hurry()
		return false
	}
	h.revision = revision
	h.extend(h.pending.started)
	return true
}

// forget removes the lease from the held ones.
func (h *Held) forget() {
	h.guard.Stop()
	h.b.mu.Lock()
	defer h.b.mu.Unlock()
	if h.b.held[h.stream] == h {
		delete(h.b.held, h.stream)
	}
	h.b.tell()
}
