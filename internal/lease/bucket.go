package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/bus"
)

// The TTL of a lease: how long a stream may be without a worker after one has died. Renewals go every third of it over the network.
const (
	DefaultTTL = 5 * time.Second
	LeastTTL   = time.Second
	MostTTL    = 10 * time.Minute
)

const (
	askWait   = 5 * time.Second  // for the server to answer a question about the bucket
	tellEvery = 30 * time.Second // while the bucket cannot be had
)

var (
	// ErrNoBucket is returned by Look where there is none.
	ErrNoBucket = errors.New("there is no bucket of leases yet")
	// ErrReadOnly is returned by Claim of what only looks.
	ErrReadOnly = errors.New("leases were opened to be looked at")
)

// Options say whose leases these are.
type Options struct {
	Bucket   string        // name of the key-value bucket
	Worker   string        // name of this worker
	Version  string        // of the program, for people
	TTL      time.Duration // where the bucket is made; DefaultTTL. One that is there keeps its own
	Replicas int           // where the bucket is made; 1
	Log      *slog.Logger  // nil is silent

	// Clock is a monotonic clock in place of the machine's, for tests.
	Clock func() time.Duration
}

// check takes in defaults and refuses what cannot be meant.
func (o *Options) check() error {
	if o.TTL == 0 {
		o.TTL = DefaultTTL
	}
	if o.Replicas == 0 {
		o.Replicas = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case !token(o.Worker):
		return fmt.Errorf("worker: found %.70q, expected 1 to %d letters, digits, - or _", o.Worker, mostName)
	case o.TTL < LeastTTL || o.TTL > MostTTL:
		return fmt.Errorf("ttl: found %v, expected %v to %v", o.TTL, LeastTTL, MostTTL)
	case o.Replicas < 1 || o.Replicas > 5:
		return fmt.Errorf("replicas: found %d, expected 1 to 5", o.Replicas)
	case len(o.Version) > mostName:
		return fmt.Errorf("version: found %d characters, expected at most %d", len(o.Version), mostName)
	}
	return nil
}

// Bucket is all leases of a site as one process sees and holds them. It may be used from any goroutine.
type Bucket struct {
	js     jetstream.JetStream
	o      Options
	id     string // of this process
	looks  bool   // never writes
	fence  func() time.Duration
	still  func() time.Duration
	hinder func(context.Context, *write) error // what a test puts before every write

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	asked  chan struct{} // holds a token when the bucket may be another one

	mu      sync.Mutex
	is      generation
	since   time.Duration // when the watch had shown all there was; -1 before
	seen    map[string]*sight
	held    map[string]*Held
	busy    map[string]bool // keys that are being claimed or let go here
	lost    map[string]was  // what this process has held
	known   uint64          // the largest epoch heard of
	bad     uint64
	remade  uint64
	changed chan struct{} // closed with the next change
}

// Open finds the bucket or makes it, and begins to watch it. Close ends that.
func Open(ctx context.Context, js jetstream.JetStream, o Options) (*Bucket, error) {
	return open(ctx, js, o, false)
}

// Look is Open for those who may not write: nothing is made or claimed. ErrNoBucket where there is none.
func Look(ctx context.Context, js jetstream.JetStream, o Options) (*Bucket, error) {
	if o.Worker == "" {
		o.Worker = "nobody"
	}
	return open(ctx, js, o, true)
}

// prepare is a bucket that has seen nothing yet.
func prepare(js jetstream.JetStream, o Options, looks bool) (*Bucket, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	b := &Bucket{js: js, o: o, id: rand.Text(), looks: looks, fence: elapsed, still: awake, asked: make(chan struct{}, 1),
		held: map[string]*Held{}, busy: map[string]bool{}, lost: map[string]was{}, changed: make(chan struct{})}
	if o.Clock != nil {
		b.fence, b.still = o.Clock, o.Clock
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b, nil
}

func open(ctx context.Context, js jetstream.JetStream, o Options, looks bool) (*Bucket, error) {
	b, err := prepare(js, o, looks)
	if err != nil {
		return nil, err
	}
	w, err := b.attach(ctx)
	if err != nil {
		b.cancel()
		return nil, fmt.Errorf("leases in KV %s: %w", o.Bucket, err)
	}
	if ttl := b.TTL(); ttl != b.o.TTL && !looks {
		b.o.Log.Warn("the bucket of leases is there with another TTL, which counts", "bucket", o.Bucket, "ttl", ttl, "asked", b.o.TTL)
	}
	b.work.Go(func() { b.run(w) })
	return b, nil
}

// attach finds or makes the bucket, and watches it from its beginning.
func (b *Bucket) attach(ctx context.Context) (jetstream.KeyWatcher, error) {
	g, err := b.ask(ctx, askWait)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if b.looks {
			return nil, ErrNoBucket
		}
		if err = b.make(ctx); err != nil {
			return nil, err
		}
		g, err = b.ask(ctx, askWait)
	}
	if err != nil {
		return nil, err
	}
	asking, done := context.WithTimeout(ctx, askWait)
	defer done()
	kv, err := b.js.KeyValue(asking, b.o.Bucket)
	if err != nil {
		return nil, err
	}
	b.begin(g)
	return kv.WatchAll(b.ctx) // which ends it
}

// begin forgets what was seen of another generation, and all that was held there is lost.
func (b *Bucket) begin(g generation) {
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
		b.o.Log.Warn("the KV bucket of leases was deleted and is made again: its leases are lost and claimed again", "bucket", b.o.Bucket)
	}
}

// run follows the bucket, through every deletion, until Close.
func (b *Bucket) run(w jetstream.KeyWatcher) {
	var told time.Time
	for {
		if w != nil {
			b.follow(w)
			_ = w.Stop() // the consumer may be gone with its bucket
		}
		if b.ctx.Err() != nil {
			return
		}
		var err error
		if w, err = b.attach(b.ctx); err == nil {
			continue
		}
		if now := time.Now(); now.Sub(told) >= tellEvery {
			b.o.Log.Warn("the KV bucket of leases cannot be had: trying again", "bucket", b.o.Bucket, "err", err)
			told = now
		}
		pause := b.TTL() / 10
		if errors.Is(err, bus.ErrForbidden) { // somebody else makes it
			pause = b.TTL()
		}
		select {
		case <-b.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// TTL is the bucket's.
func (b *Bucket) TTL() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.is.ttl
}

// ID is this process's, random.
func (b *Bucket) ID() string { return b.id }

// Close ends renewals and watching. What is still held is lost here, and free for others after a TTL; who wants it sooner calls Release first.
func (b *Bucket) Close() {
	b.mu.Lock()
	for _, h := range b.held {
		h.lose(ErrClosed)
	}
	b.mu.Unlock()
	b.cancel()
	b.work.Wait()
}
