// The holder of a lease
//
// Only the result of a compare-and-set decides, never a Get, because replicas answer late. Every write expects the revision that the writer knows (0: no
// key). A write without an answer is sent again with the same Nats-Msg-Id. The server then repeats its answer, or refuses the write because of a newer
// revision; if the message of that revision has the id, it is this write. Per-key TTLs are not used, because an Update drops them (nats.go #1994).

package site

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/store"
)

// Default and bounds of the TTL of a lease, which is how long a stream may lack a worker after its worker died. A lease is renewed every third of the TTL.
const (
	DefaultTTL = 5 * time.Second
	LeastTTL   = time.Second
	MostTTL    = 10 * time.Minute
)

// mostKeys is the largest number of remembered keys: twice the streams of a site.
const mostKeys = 2 * MostStreams

// ErrClosed reports a lease lost or refused because the process ends.
var ErrClosed = errors.New("this process ends")

// Leases is this process's view of all leases of a site, with the leases that it holds. It may be used from any goroutine.
type Leases struct {
	js     jetstream.JetStream
	o      Options
	name   string // of the bucket
	id     string // of this process
	bucket *store.Bucket
	fence  func() time.Duration
	still  func() time.Duration
	hinder func(context.Context, *write) error // a test hook called before every write

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	is      generation
	since   time.Duration // time at which all existing keys had been read; -1 before
	seen    map[string]*sight
	held    map[string]*Held
	busy    map[string]bool // keys that this process is claiming or releasing
	lost    map[string]was  // leases that this process has held
	known   uint64          // the largest known epoch
	bad     uint64
	remade  uint64
	changed chan struct{} // closed with the next change
}

// openLeases reads the bucket of that name, and follows it if h is writes.
func openLeases(ctx context.Context, js jetstream.JetStream, name string, o Options, h how) (*Leases, error) {
	b := &Leases{js: js, o: o, name: name, id: rand.Text(), fence: elapsed, still: awake,
		held: map[string]*Held{}, busy: map[string]bool{}, lost: map[string]was{}, changed: make(chan struct{})}
	if o.clock != nil {
		b.fence, b.still = o.clock, o.clock
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.bucket = &store.Bucket{JS: js, Is: b.resource, Makes: h == writes, Every: o.TTL, Reader: b, Log: o.Log}
	if err := h.open(ctx, b.bucket); err != nil {
		b.cancel()
		return nil, fmt.Errorf("leases in KV %s: %w", name, err)
	}
	if ttl := b.TTL(); ttl != o.TTL && h == writes {
		o.Log.Warn("the bucket of leases has a different TTL, which is used", "bucket", name, "ttl", ttl, "asked", o.TTL)
	}
	return b, nil
}

// Begin forgets the entries of the previous bucket. All leases held there are lost.
func (b *Leases) Begin(info *jetstream.StreamInfo) error {
	g, err := generationOf(info)
	if err != nil {
		return err
	}
	b.mu.Lock()
	again := !b.is.made.IsZero() && !b.is.made.Equal(g.made)
	b.is, b.since, b.seen = g, -1, map[string]*sight{}
	if again {
		b.remade++
	}
	var lost []*Held
	for _, h := range b.held {
		if !h.of.made.Equal(g.made) {
			lost = append(lost, h)
		}
	}
	b.tell()
	b.mu.Unlock()
	for _, h := range lost {
		h.lose(ErrRemade)
	}
	if again {
		b.o.Log.Warn("the KV bucket of leases was deleted and is being made again: this worker loses its leases and claims them again", "bucket", b.name)
	}
	return nil
}

// Look reports whether the bucket was made again.
func (b *Leases) Look(info *jetstream.StreamInfo) bool {
	if info == nil {
		return true
	}
	g, err := generationOf(info)
	b.mu.Lock()
	defer b.mu.Unlock()
	return err == nil && (!g.made.Equal(b.is.made) || g.ttl != b.is.ttl)
}

// TTL returns the TTL of the bucket.
func (b *Leases) TTL() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.is.ttl
}

// ID returns the random identity of this process.
func (b *Leases) ID() string { return b.id }

// Close ends renewals and watching. It loses the leases still held, which are free for others after a TTL. To free them sooner, call Release first.
func (b *Leases) Close() {
	b.mu.Lock()
	for _, h := range b.held {
		h.lose(ErrClosed)
	}
	b.mu.Unlock()
	b.cancel()
	b.bucket.Close()
	b.work.Wait()
}

// tell wakes the waiters for a change. The caller holds the lock.
func (b *Leases) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Changed returns a channel that closes at the next change in the watch.
func (b *Leases) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}
