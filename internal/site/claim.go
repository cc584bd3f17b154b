package site

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// handOver is how long a free lease is reserved for the worker that it names: several loops of that worker.
const handOver = 3 * time.Second

// ErrEpoch reports a claim that was given back, because its epoch is not larger than one already in use.
var ErrEpoch = errors.New("the epoch would not be larger than the last")

// Wait reports that a lease is not available yet.
type Wait struct {
	Stream string
	Holder Record        // zero if unknown
	Again  time.Duration // time until the next attempt, unless Changed closes sooner
	Why    string
}

func (w *Wait) Error() string { return fmt.Sprintf("lease of %s: %s", w.Stream, w.Why) }

// Claim tries once to take the lease of a stream, with an epoch larger than after, the largest known epoch of the stream's results and laws. If the error
// is a *Wait, it gives the time to try again.
func (b *Leases) Claim(ctx context.Context, stream string, after uint64) (*Held, error) {
	switch {
	case !b.bucket.Makes:
		return nil, ErrReadOnly
	case !token(stream):
		return nil, fmt.Errorf("stream: found %.70q, expected 1 to %d letters, digits, - or _", stream, mostName)
	case after > mostFloor:
		return nil, fmt.Errorf("lease of %s: the last epoch is given as %d, expected at most 2^52: %w", stream, after, ErrEpoch)
	}
	may, err := b.may(stream)
	if err != nil {
		return nil, err
	}
	defer b.done(stream)
	of := may.of
	r := Record{Worker: b.o.Worker, ID: b.id, Since: time.Now().UTC(), Version: b.o.Version}
	w := &write{key: stream, value: r.bytes(), expected: may.over}
	end := b.fence() + of.ttl/2
	revision, err := b.insist(ctx, w, end, of.ttl/6)
	var other newer
	if errors.As(err, &other) && other.last == 0 && may.absent && may.over != 0 { // the server has forgotten the key meanwhile
		w = &write{key: stream, value: r.bytes()}
		revision, err = b.insist(ctx, w, end, of.ttl/6)
	}
	if errors.As(err, &other) {
		return nil, b.late(stream, other.last)
	}
	if err != nil {
		b.bucket.Doubt()
		return nil, fmt.Errorf("lease of %s: %w", stream, err)
	}
	return b.sure(ctx, &claim{stream, r, revision, w.started, of}, after)
}

// done ends the claim or release of a key.
func (b *Leases) done(stream string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.busy, stream)
	b.tell()
}

// leave describes how a lease may be claimed.
type leave struct {
	over   uint64 // the expected revision; 0 expects no key
	absent bool   // a missing key is accepted too, because the key has not changed for a TTL
	of     generation
}

// may reports whether the stream's lease may be taken now. If so, the key is busy until done.
func (b *Leases) may(stream string) (to leave, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	ttl, now := b.is.ttl, b.still()
	wait := func(holder Record, again time.Duration, format string, args ...any) error {
		return &Wait{stream, holder, max(again, ttl/50), fmt.Sprintf(format, args...)}
	}
	if b.busy[stream] {
		return to, wait(Record{}, ttl/10, "this process is claiming or releasing it")
	}
	if h := b.held[stream]; h != nil {
		return to, wait(h.record, ttl/3, "this process holds it")
	}
	defer func() {
		if err == nil {
			b.busy[stream] = true
		}
	}()
	s := b.seen[stream]
	if b.since < 0 {
		return to, wait(Record{}, ttl/10, "the bucket has not been read yet")
	}
	if s == nil {
		if rest := b.since + ttl - now; rest > 0 {
			return to, wait(Record{}, rest, "no worker seems to hold it, but this process has watched the bucket for less than a TTL (%v)", ttl)
		}
		return leave{0, true, b.is}, nil
	}
	age := now - s.at
	over := leave{s.revision, age >= ttl, b.is}
	switch {
	case s.what == free && s.trusted:
		if next := s.record.To; next != "" && next != b.o.Worker && age < handOver {
			return to, wait(s.record, handOver-age, "it is reserved for %s", next)
		}
		return over, nil
	case s.what == taken && s.record.ID == b.id && b.lost[stream] == (was{b.is.made, s.record.Epoch}):
		return over, nil // no other process has claimed it since
	case age < ttl && s.what == taken:
		return to, wait(s.record, ttl-age, "%s holds it, epoch %d", s.record.Worker, s.record.Epoch)
	case age < ttl:
		return to, wait(Record{}, ttl-age, "its record is unreadable")
	}
	return over, nil
}

// insist repeats a write until the server answers or the fence's clock reaches end.
func (b *Leases) insist(ctx context.Context, w *write, end, within time.Duration) (revision uint64, err error) {
	for {
		revision, err = b.put(ctx, w, within)
		if err == nil || errors.As(err, new(newer)) || b.fence() >= end {
			return revision, err
		}
		select {
		case <-ctx.Done():
			return 0, err
		case <-b.ctx.Done():
			return 0, ErrClosed
		case <-time.After(within / 8):
		}
	}
}

// late records the actual revision of a key, which is not the expected one, and returns a Wait.
func (b *Leases) late(stream string, revision uint64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.seen[stream]
	if revision != 0 && (s == nil || revision > s.revision) {
		s = &sight{revision: revision, at: b.still()}
		b.note(stream, s)
	}
	w := &Wait{Stream: stream, Again: b.is.ttl / 20, Why: "another worker was faster, or the server has not expired the old lease yet"}
	if s != nil {
		w.Holder = s.record
	}
	return w
}

// claim is a claim that the server accepted.
type claim struct {
	stream   string
	record   Record
	revision uint64
	started  time.Duration
	of       generation // the bucket watched before the claim
}

// sure checks that the claim is in the bucket watched before, and then holds the lease.
func (b *Leases) sure(ctx context.Context, c *claim, after uint64) (*Held, error) {
	g, err := b.askUntil(ctx, c.started+valid(c.of.ttl))
	if err != nil || !g.made.Equal(c.of.made) {
		b.bucket.Doubt()
		if err == nil {
			err = ErrRemade
		}
		// The claim may be in a new bucket, while a lease in the old one is still valid. It is not given back, so that all workers wait for a TTL.
		return nil, fmt.Errorf("lease of %s: %w", c.stream, err)
	}
	epoch := c.of.epoch(c.revision)
	b.mu.Lock()
	b.known = max(b.known, after, min(epoch, mostFloor))
	b.mu.Unlock()
	if epoch <= after || epoch > mostEpoch {
		b.giveBack(c)
		return nil, fmt.Errorf("lease of %s: epoch %d, the last was %d: %w: was the server's clock set back, or its store restored from a copy? "+
			"Delete the bucket %s: a worker makes it again, with larger epochs", c.stream, epoch, after, ErrEpoch, b.name)
	}
	c.record.Epoch = epoch
	return b.hold(c)
}

// askUntil asks for the generation until the server answers or the fence's clock reaches then.
func (b *Leases) askUntil(ctx context.Context, then time.Duration) (generation, error) {
	for {
		rest := max(then-b.fence(), time.Millisecond)
		g, err := b.ask(ctx, rest)
		if err == nil || errors.Is(err, jetstream.ErrStreamNotFound) || b.fence() >= then {
			return g, err
		}
		select {
		case <-ctx.Done():
			return g, err
		case <-time.After(rest / 20):
		}
	}
}

// giveBack frees an unusable claim. If that fails the claim expires after a TTL.
func (b *Leases) giveBack(c *claim) {
	r := c.record
	r.Free, r.Epoch = true, c.of.epoch(c.revision)
	_, _ = b.put(b.ctx, &write{key: c.stream, value: r.bytes(), expected: c.revision}, c.of.ttl/6)
}

// Await repeats Claim until it succeeds or ctx ends. err then includes the reason of the last attempt.
func (b *Leases) Await(ctx context.Context, stream string, after uint64) (*Held, error) {
	for {
		changed := b.Changed()
		h, err := b.Claim(ctx, stream, after)
		if err == nil || errors.Is(err, ErrEpoch) || errors.Is(err, ErrReadOnly) || errors.Is(err, ErrClosed) {
			return h, err
		}
		again := b.TTL() / 10
		var wait *Wait
		if errors.As(err, &wait) {
			again = wait.Again
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-b.ctx.Done():
			return nil, ErrClosed
		case <-changed:
		case <-time.After(again):
		}
	}
}
