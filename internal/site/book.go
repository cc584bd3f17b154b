package site

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/bus"
	"driftscope/internal/lease"
)

const (
	askWait   = 5 * time.Second  // for the server to answer
	lookEvery = 2 * time.Second  // whether the bucket is still the same
	again     = time.Second / 2  // after which a bucket that cannot be had is tried again
	tellEvery = 30 * time.Second // bad records, and a bucket that cannot be had
	mostBad   = 100              // bad records that are named; all are counted
)

// entry is one record and when it was seen to change.
type entry[T any] struct {
	record   T
	revision uint64
	at       time.Time // with Go's monotonic clock
}

// Bad is a record that is none.
type Bad struct{ Bucket, Key, Why string }

// book is one bucket as it is seen.
type book[T any] struct {
	js     jetstream.JetStream
	is     bus.Resource // the bucket
	how    how
	log    *slog.Logger
	most   int // records
	decode func(key string, value []byte, revision uint64) (T, error)
	keeps  bool // what vanishes with the bucket was not removed

	cancel context.CancelFunc
	work   sync.WaitGroup

	mu       sync.Mutex
	kv       jetstream.KeyValue
	made     time.Time // of the bucket
	read     bool      // all there was has been shown
	last     uint64    // revision
	entries  map[string]entry[T]
	vanished map[string]entry[T]
	bad      map[string]string // why, by key
	badCount uint64
	remade   uint64
	told     time.Time
	changed  chan struct{} // holds a token after a change
}

// openBook begins to watch b.
func openBook[T any](ctx context.Context, b *book[T]) (*book[T], error) {
	b.vanished, b.changed = map[string]entry[T]{}, make(chan struct{}, 1)
	running, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	if err := b.start(ctx, running); err != nil {
		cancel()
		return nil, fmt.Errorf("KV %s: %w", b.name(), err)
	}
	return b, nil
}

// start reads the bucket, and watches it while running lasts unless it is read once.
func (b *book[T]) start(ctx, running context.Context) error {
	if b.how == reads || b.how == edits {
		if err := b.reach(ctx); err != nil {
			return err
		}
		return lease.Entries(ctx, b.js, b.name(), b.take)
	}
	w, err := b.attach(ctx, running)
	if err == nil {
		b.work.Go(func() { b.run(running, w) })
	}
	return err
}

func (b *book[T]) close() { b.cancel(); b.work.Wait() }

// attach finds or makes the bucket, and watches it while running lasts.
func (b *book[T]) attach(ctx, running context.Context) (jetstream.KeyWatcher, error) {
	if err := b.reach(ctx); err != nil {
		return nil, err
	}
	return b.values().WatchAll(running)
}

// reach finds or makes the bucket.
func (b *book[T]) reach(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, askWait)
	defer done()
	var s jetstream.Stream
	var err error
	if b.how == writes {
		s, _, err = b.is.Ensure(ctx, b.js)
	} else {
		s, err = b.is.Find(ctx, b.js)
	}
	if err != nil {
		return err
	}
	kv, err := b.js.KeyValue(ctx, b.name())
	if err == nil {
		b.begin(kv, s.CachedInfo().Created)
	}
	return err
}

// name is the bucket's.
func (b *book[T]) name() string { return b.is.Bucket.Bucket }

// begin reads the bucket anew: what another making held has vanished.
func (b *book[T]) begin(kv jetstream.KeyValue, made time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.made.IsZero() && !b.made.Equal(made) {
		b.vanish(func(entry[T]) bool { return true })
		b.remade++
		b.log.Error("a KV bucket was deleted, and is made again", "bucket", b.name(), "vanished", len(b.vanished))
	}
	b.kv, b.made, b.read, b.last, b.entries, b.bad = kv, made, false, 0, map[string]entry[T]{}, map[string]string{}
	b.tell()
}

// vanish takes records out that are gone though nobody removed them. The lock is held.
func (b *book[T]) vanish(gone func(entry[T]) bool) {
	for key, e := range b.entries {
		if !gone(e) {
			continue
		}
		delete(b.entries, key)
		if b.keeps {
			b.vanished[key] = e
		}
	}
}

// run follows the bucket, through every deletion, while ctx lasts.
func (b *book[T]) run(ctx context.Context, w jetstream.KeyWatcher) {
	var told time.Time
	for ctx.Err() == nil {
		if w != nil {
			b.follow(ctx, w)
			_ = w.Stop() // the consumer may be gone with its bucket
		}
		var err error
		if w, err = b.attach(ctx, ctx); err == nil {
			continue
		}
		if now := time.Now(); ctx.Err() == nil && now.Sub(told) >= tellEvery {
			b.log.Warn("a KV bucket cannot be had: trying again", "bucket", b.name(), "err", err)
			told = now
		}
		pause := again
		if errors.Is(err, bus.ErrForbidden) { // somebody else makes it
			pause = lookEvery
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	if w != nil {
		_ = w.Stop()
	}
}

// follow takes in what the watch shows until the bucket is another one.
func (b *book[T]) follow(ctx context.Context, w jetstream.KeyWatcher) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-w.Updates():
			if !open {
				return
			}
			b.take(e)
		case <-tick.C:
			if b.another(ctx) {
				return
			}
		}
	}
}

// another says that the bucket is gone, or is another one; and finds what was purged of it.
func (b *book[T]) another(ctx context.Context) bool {
	ctx, done := context.WithTimeout(ctx, lookEvery)
	defer done()
	s, err := b.is.Find(ctx, b.js)
	b.mu.Lock()
	defer b.mu.Unlock()
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		if len(b.entries) > 0 {
			b.vanish(func(entry[T]) bool { return true })
			b.log.Error("a KV bucket was deleted", "bucket", b.name(), "vanished", len(b.vanished))
			b.tell()
		}
		return true
	}
	if err != nil {
		return false
	}
	info := s.CachedInfo()
	if before := len(b.vanished); b.keeps && b.read && info.State.LastSeq <= b.last {
		b.vanish(func(e entry[T]) bool { return e.revision < info.State.FirstSeq })
		if n := len(b.vanished) - before; n > 0 {
			b.log.Error("a KV bucket was emptied, although no command removed its records", "bucket", b.name(), "vanished", n)
			b.tell()
		}
	}
	return !info.Created.Equal(b.made)
}

// take notes one entry; nil says that all there was has been shown.
func (b *book[T]) take(e jetstream.KeyValueEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.tell()
	if e == nil {
		b.read = true
		return
	}
	key := e.Key()
	b.last = max(b.last, e.Revision())
	delete(b.bad, key)
	if e.Operation() != jetstream.KeyValuePut {
		delete(b.entries, key)
		delete(b.vanished, key)
		return
	}
	record, err := b.decode(key, e.Value(), e.Revision())
	if _, there := b.entries[key]; err == nil && !there && len(b.entries) >= b.most {
		err = fmt.Errorf("there are %d already, the most that are read", b.most)
	}
	if err != nil {
		b.wrong(key, err) // what was there before stays
		return
	}
	delete(b.vanished, key)
	b.entries[key] = entry[T]{record, e.Revision(), time.Now()}
}

// wrong notes a bad record. The lock is held.
func (b *book[T]) wrong(key string, err error) {
	b.badCount++
	if len(b.bad) < mostBad {
		b.bad[fmt.Sprintf("%.70s", key)] = fmt.Sprintf("%.200s", err.Error())
	}
	if now := time.Now(); now.Sub(b.told) >= tellEvery {
		b.log.Warn("a record is left out", "bucket", b.name(), "key", fmt.Sprintf("%.70s", key), "err", err, "all", b.badCount)
		b.told = now
	}
}

// tell wakes who waits for a change.
func (b *book[T]) tell() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// values is the bucket.
func (b *book[T]) values() jetstream.KeyValue {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kv
}

// find is what is known of a key.
func (b *book[T]) find(key string) (e entry[T], there, vanished bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, there = b.entries[key]; there {
		return e, true, false
	}
	e, vanished = b.vanished[key]
	return e, false, vanished
}

// page is a copy of a book.
type page[T any] struct {
	records, vanished []T // by key
	bad               []Bad
	badCount, remade  uint64
	read              bool
}

// copied are the records that changed within an age, or all where that is 0.
func (b *book[T]) copied(age time.Duration) (p page[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	fresh := func(e entry[T]) bool { return age == 0 || now.Sub(e.at) <= age }
	p.records, p.vanished = listed(b.entries, fresh), listed(b.vanished, fresh)
	p.badCount, p.remade, p.read = b.badCount, b.remade, b.read
	for key, why := range b.bad {
		p.bad = append(p.bad, Bad{b.name(), key, why})
	}
	slices.SortFunc(p.bad, func(x, y Bad) int { return strings.Compare(x.Key, y.Key) })
	return p
}

// listed are those records by key.
func listed[T any](entries map[string]entry[T], is func(entry[T]) bool) []T {
	keys := make([]string, 0, len(entries))
	for key, e := range entries {
		if is(e) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	out := make([]T, len(keys))
	for i, key := range keys {
		out[i] = entries[key].record
	}
	return out
}
