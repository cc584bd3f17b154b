package site

import (
	"context"
	"slices"
	"time"

	"driftscope/internal/flow/store"
)

const (
	atLeast = time.Second      // longest interval between snapshots, because the age of unchanged entries matters
	atMost  = time.Second / 20 // shortest interval, because a thousand workers renew hundreds of records per second
)

// Snapshot has all records of a site at one moment, sorted by name.
type Snapshot struct {
	Streams  []Stream // that should run
	Vanished []Stream // streams whose records vanished without a removal; they continue
	Workers  []Worker // live workers
	Leases   []Lease

	Read   bool   // all existing records have been read; before that, a missing record may only be late
	Remade uint64 // number of replaced buckets since Open
	Bad    []Bad  // invalid records, at most a hundred per bucket
	BadAll uint64 // number of invalid records since Open
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

// living returns the workers that are not known to be dead. A worker is dead if it has not renewed a lease for a TTL and its own record for two thirds of a
// TTL. The record exists for longer, but the worker's streams must not wait for its end.
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

// Watch sends a snapshot after every change, and every second. It closes the channel when ctx ends. A slow reader gets the newest snapshot. Only one caller at
// a time may watch.
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
			case <-time.After(atMost): // the reader is slow, so take a newer snapshot
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
