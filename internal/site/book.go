package site

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/store"
)

const (
	lookEvery = 2 * time.Second // interval at which a book checks whether its bucket was replaced
	mostBad   = 100             // largest number of bad records that are named; all are counted
)

// entry is one record with the time of its last observed change.
type entry[T any] struct {
	record   T
	revision uint64
	at       time.Time // includes a reading of Go's monotonic clock
}

// Bad is an unreadable record.
type Bad struct{ Bucket, Key, Why string }

// book is this process's view of one bucket of records.
type book[T any] struct {
	bucket *store.Bucket
	name   string
	log    *slog.Logger
	most   int // records
	decode func(key string, value []byte, revision uint64) (T, error)
	keeps  bool // remember entries that vanish with the bucket, because no user removed them

	mu       sync.Mutex
	made     time.Time // creation of the bucket
	read     bool      // all existing records have been read
	last     uint64    // latest revision
	entries  map[string]entry[T]
	vanished map[string]entry[T]
	bad      map[string]string // reasons, by key
	badCount uint64
	remade   uint64
	told     bus.Seldom
	changed  chan struct{} // holds a token after a change
}

// open starts to read a bucket.
func (b *book[T]) open(ctx context.Context, js jetstream.JetStream, is bus.Resource, h how) error {
	b.name, b.vanished, b.changed = is.Bucket.Bucket, map[string]entry[T]{}, make(chan struct{}, 1)
	b.bucket = &store.Bucket{JS: js, Is: func() bus.Resource { return is }, Makes: h == writes, Every: lookEvery, Reader: b, Log: b.log}
	if err := h.open(ctx, b.bucket); err != nil {
		return fmt.Errorf("KV %s: %w", b.name, err)
	}
	return nil
}

// Begin starts to read a new bucket. Entries of the previous bucket have vanished.
func (b *book[T]) Begin(info *jetstream.StreamInfo) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if made := info.Created; !b.made.IsZero() && !b.made.Equal(made) {
		b.vanish(func(entry[T]) bool { return true })
		b.remade++
		b.log.Error("a KV bucket was deleted and is being made again", "bucket", b.name, "vanished", len(b.vanished))
	}
	b.made, b.read, b.last, b.entries, b.bad = info.Created, false, 0, map[string]entry[T]{}, map[string]string{}
	b.tell()
	return nil
}

// vanish drops records that are gone without a removal. The caller holds the lock.
func (b *book[T]) vanish(gone func(entry[T]) bool) (n int) {
	for key, e := range b.entries {
		if !gone(e) {
			continue
		}
		delete(b.entries, key)
		n++
		if b.keeps {
			b.vanished[key] = e
		}
	}
	if n > 0 {
		b.tell()
	}
	return n
}

// Look reports whether the bucket is gone or was replaced, and finds purged entries.
func (b *book[T]) Look(info *jetstream.StreamInfo) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if info == nil {
		if n := b.vanish(func(entry[T]) bool { return true }); n > 0 {
			b.log.Error("a KV bucket was deleted", "bucket", b.name, "vanished", len(b.vanished))
		}
		return true
	}
	if b.keeps && b.read && info.State.LastSeq <= b.last {
		if n := b.vanish(func(e entry[T]) bool { return e.revision < info.State.FirstSeq }); n > 0 {
			b.log.Error("a KV bucket was emptied, although no command removed its records", "bucket", b.name, "vanished", n)
		}
	}
	return !info.Created.Equal(b.made)
}

// Take records one entry; nil means that all existing entries have been read.
func (b *book[T]) Take(e jetstream.KeyValueEntry) {
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
		err = fmt.Errorf("there are %d already, the maximum", b.most)
	}
	if err != nil {
		b.wrong(key, err) // the previous entry stays
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
	if _, due := b.told.Due(""); due {
		b.log.Warn("a record is unreadable and ignored", "bucket", b.name, "key", fmt.Sprintf("%.70s", key), "err", err, "all", b.badCount)
	}
}

// tell wakes the waiters for a change.
func (b *book[T]) tell() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// find returns the entry of a key.
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

// copied returns the records that changed within the last age, or all if age is 0.
func (b *book[T]) copied(age time.Duration) (p page[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	fresh := func(e entry[T]) bool { return age == 0 || now.Sub(e.at) <= age }
	p.records, p.vanished = listed(b.entries, fresh), listed(b.vanished, fresh)
	p.badCount, p.remade, p.read = b.badCount, b.remade, b.read
	for key, why := range b.bad {
		p.bad = append(p.bad, Bad{b.name, key, why})
	}
	slices.SortFunc(p.bad, func(x, y Bad) int { return strings.Compare(x.Key, y.Key) })
	return p
}

// listed returns the matching records, sorted by key.
func listed[T any](entries map[string]entry[T], is func(entry[T]) bool) (out []T) {
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if e := entries[key]; is(e) {
			out = append(out, e.record)
		}
	}
	return out
}

// close stops following the bucket.
func (b *book[T]) close() {
	if b.bucket != nil {
		b.bucket.Close()
	}
}
