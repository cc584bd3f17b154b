package site

import (
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// sight is this process's latest observation of a key.
type sight struct {
	revision uint64
	at       time.Duration // time of the first observation of this revision, by a clock that stops while the machine is suspended
	what     what
	record   Record // if it is a record
	trusted  bool   // the holder itself wrote that the lease is free
}

// what classifies the value of a key.
type what int

const (
	unknown    what = iota // only the revision is known, from a refused write
	unreadable             // not a valid record
	deleted                // a delete marker, which any client can write
	taken
	free
)

// Take records one entry; nil means that all existing entries have been read.
func (b *Leases) Take(e jetstream.KeyValueEntry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.tell()
	if e == nil {
		b.since = b.still()
		return
	}
	key := e.Key()
	if !token(key) {
		b.bad++
		return
	}
	old := b.seen[key]
	if old != nil && (e.Revision() < old.revision || e.Revision() == old.revision && old.what != unknown) {
		return
	}
	s := &sight{revision: e.Revision(), at: b.still()}
	if old != nil && old.revision == s.revision {
		s.at = old.at
	}
	b.judge(s, old, e)
	b.note(key, s)
	if h := b.held[key]; h != nil && (s.record.ID != b.id || s.what != taken) {
		h.hurry()
	}
}

// judge classifies an entry.
func (b *Leases) judge(s, old *sight, e jetstream.KeyValueEntry) {
	if e.Operation() != jetstream.KeyValuePut {
		s.what = deleted
		return
	}
	r, err := read(e.Value())
	if err != nil {
		s.what = unreadable
		b.bad++
		return
	}
	largest := b.is.epoch(s.revision)
	if r.Epoch == 0 {
		r.Epoch = largest
	}
	b.known = max(b.known, min(r.Epoch, largest)) // a forged epoch may be any number
	s.record, s.what = r, taken
	if r.Free {
		s.what = free
		s.trusted = old == nil || old.what != taken || old.record.ID == r.ID && old.record.Epoch == r.Epoch
	}
}

// note remembers an observation. If there are too many, it first forgets the ones that have not changed for four TTLs.
func (b *Leases) note(key string, s *sight) {
	if len(b.seen) >= mostKeys && b.seen[key] == nil {
		for k, old := range b.seen {
			if b.still()-old.at > 4*b.is.ttl {
				delete(b.seen, k)
			}
		}
		if len(b.seen) >= mostKeys {
			b.bad++
			return
		}
	}
	b.seen[key] = s
}

// State is the known state of a lease.
type State string

// The states of a lease.
const (
	Taken      State = "taken"      // renewed within a TTL
	Still      State = "still"      // not renewed for a TTL: its holder is gone, or this process receives nothing
	Free       State = "free"       // released by its holder
	Deleted    State = "deleted"    // by a client
	Unreadable State = "unreadable" // not a record of this program
)

// Lease is this process's view of one key.
type Lease struct {
	Stream   string
	State    State
	Record   Record // zero if it is deleted or unreadable
	Revision uint64
	Age      time.Duration // since the revision was first seen here
}

// all returns every known key, sorted by stream.
func (b *Leases) all() []Lease {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.still()
	all := make([]Lease, 0, len(b.seen))
	for key, s := range b.seen {
		l := Lease{key, Unreadable, s.record, s.revision, now - s.at}
		switch {
		case s.what == taken && l.Age < b.is.ttl:
			l.State = Taken
		case s.what == taken:
			l.State = Still
		case s.what == free:
			l.State = Free
		case s.what == deleted:
			l.State = Deleted
		}
		if l.Age > 3*b.is.ttl { // long forgotten by the server
			continue
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(x, y Lease) int { return strings.Compare(x.Stream, y.Stream) })
	return all
}

// counted returns all leases, the number of invalid or untracked entries, and the number of replaced buckets.
func (b *Leases) counted() (all []Lease, bad, remade uint64) {
	all = b.all()
	b.mu.Lock()
	defer b.mu.Unlock()
	return all, b.bad, b.remade
}
