package site

import (
	"context"
	"slices"
	"time"

	"driftscope/internal/flow/store"
)

const (
	atLeast = time.Second      // a snapshot without changes: unchanged entries have got older
	atMost  = time.Second / 20 // between two: a thousand workers renew hundreds of records a second
)

// Snapshot is all records of a site at one moment, by name.
type Snapshot struct {
	Streams  []Stream // that should run
	Vanished []Stream // records gone without a removal: these streams continue
	Workers  []Worker // whose records change
	Leases   []Lease

	Read   bool   // all existing records have been read; before, a missing one may only be late
	Remade uint64 // number of replaced buckets since Open
	Bad    []Bad  // records that are none, a hundred of each bucket at most
	BadAll uint64 // number of these since Open
}

// Now returns the snapshot of this moment.
func (s *Site) Now() Snapshot {
	streams, workers := s.streams.copied(0), s.workers.copied(s.TTL()*4/3) // a renewal may be late
	leases, bad, remade := s.leases.counted()
	return Snapshot{
		Streams: streams.records, Vanished: streams.vanished, Workers: living(workers.records, s.workers.copied(s.TTL()*2/3).records, leases), Leases: leases,
		Read: streams.read && workers.read, Remade: streams.remade + workers.remade + remade,
		Bad: append(streams.bad, workers.bad...), BadAll: streams.badCount + workers.badCount + bad,
	}
}

// living returns the workers that are not known to be dead. A worker is dead if it has not renewed a lease for a TTL or, without leases, has said nothing for
// two thirds of one. Its record is there for longer, and its streams must not wait for that.
func living(there, heard []Worker, leases []Lease) []Worker {
	dead := map[string]bool{}
	for _, l := range leases {
		if l.State == Still {
			dead[l.Record.ID] = true
		}
	}
	for _, w := range heard {
		delete(dead, w.ID)
	}
	return slices.DeleteFunc(there, func(w Worker) bool { return dead[w.ID] })
}

// Workers returns the live workers.
func (s *Site) Workers() []Worker { return s.Now().Workers }

// Leases returns the leases.
func (s *Site) Leases() []Lease { return s.leases.all() }

// Watch returns a snapshot after every change, and every second, until ctx ends, when the channel is closed. A slow reader gets the newest snapshot. One at a
// time may watch.
func (s *Site) Watch(ctx context.Context) <-chan Snapshot {
	out := make(chan Snapshot)
	go func() {
		defer close(out)
		for {
			changed := s.leases.Changed()
			select {
			case out <- s.Now():
			case <-ctx.Done():
				return
			case <-time.After(atMost): // newer records, for who is slow
				continue
			}
			store.Pause(ctx, atMost)
			late := time.NewTimer(atLeast - atMost)
			select {
			case <-ctx.Done():
			case <-s.streams.changed:
			case <-s.workers.changed:
			case <-changed:
			case <-late.C:
			}
			late.Stop()
		}
	}()
	return out
}

// holders returns, by stream, the worker that holds the lease or should take it next.
func (s *Snapshot) holders() map[string]string {
	holders := map[string]string{}
	for _, l := range s.Leases {
		switch {
		case l.State == Taken:
			holders[l.Stream] = l.Record.Worker
		case l.State == Free && l.Age < handOver:
			holders[l.Stream] = l.Record.To
		}
	}
	return holders
}
