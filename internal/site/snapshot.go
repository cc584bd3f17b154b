package site

import (
	"context"
	"slices"
	"time"

	"driftscope/internal/site/lease"
	"driftscope/internal/site/placement"
)

const (
	atLeast = time.Second      // a snapshot, where nothing changes: what stands still has got older
	atMost  = time.Second / 20 // between two: a thousand workers renew hundreds of records a second
	handing = 3 * time.Second  // that a stream counts as its next worker's, as leases have it
)

// Snapshot is all records of a site at one moment, by name.
type Snapshot struct {
	Streams  []Stream // that should run
	Vanished []Stream // whose records are gone though nobody removed them: they go on
	Workers  []Worker // whose records change
	Leases   []lease.Lease

	Read   bool   // all there was has been seen; before, what is missing may only be late
	Remade uint64 // how often buckets were gone and made again, since Open
	Bad    []Bad  // records that are none, a hundred of each bucket at most
	BadAll uint64 // how many there were since Open
}

// Now is the snapshot of this moment.
func (s *Site) Now() Snapshot {
	streams, workers, leases := s.streams.copied(0), s.workers.copied(s.TTL()*4/3), s.leases.Leases() // a renewal may be late
	return Snapshot{
		Streams: streams.records, Vanished: streams.vanished, Workers: living(workers.records, s.workers.copied(s.TTL()*2/3).records, leases), Leases: leases,
		Read: streams.read && workers.read, Remade: streams.remade + workers.remade + s.leases.Remade(),
		Bad: append(streams.bad, workers.bad...), BadAll: streams.badCount + workers.badCount + s.leases.Bad(),
	}
}

// living are the workers that are not known to be dead: one is that has not renewed a lease for a TTL and has said nothing for two thirds of one, when it
// holds nothing any more. Its record is there for longer, and its streams must not wait for that.
func living(there, heard []Worker, leases []lease.Lease) []Worker {
	dead := map[string]bool{}
	for _, l := range leases {
		if l.State == lease.Still {
			dead[l.Record.ID] = true
		}
	}
	for _, w := range heard {
		delete(dead, w.ID)
	}
	return slices.DeleteFunc(there, func(w Worker) bool { return dead[w.ID] })
}

// Streams are those that should run.
func (s *Site) Streams() []Stream { return s.Now().Streams }

// Workers are those that are there.
func (s *Site) Workers() []Worker { return s.Now().Workers }

// Leases are who runs what.
func (s *Site) Leases() []lease.Lease { return s.leases.Leases() }

// Watch gives a snapshot after every change, and every second, until ctx ends, when the channel is closed. Who is slow gets the newest. One at a time may watch.
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
			pause(ctx, atMost)
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

// pause waits.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// holders are, by stream, the worker that holds the lease or is to have it next.
func (s *Snapshot) holders() map[string]string {
	holders := map[string]string{}
	for _, l := range s.Leases {
		switch {
		case l.State == lease.Taken:
			holders[l.Stream] = l.Record.Worker
		case l.State == lease.Free && l.Age < handing:
			holders[l.Stream] = l.Record.To
		}
	}
	return holders
}

// Plan is who should run what, the same for all who see these records.
func (s *Snapshot) Plan() placement.Plan {
	workers := make([]placement.Worker, len(s.Workers))
	for i, w := range s.Workers {
		workers[i] = placement.Worker{Name: w.Name, Cores: w.Cores, Labels: w.Labels, Draining: w.Draining}
	}
	holders := s.holders()
	streams := make([]placement.Stream, 0, len(s.Streams)+len(s.Vanished))
	for _, all := range [][]Stream{s.Streams, s.Vanished} {
		for _, x := range all {
			streams = append(streams, placement.Stream{Name: x.Name, Cores: x.Cores, Labels: x.Labels, Pinned: x.Worker, Holder: holders[x.Name]})
		}
	}
	return placement.Make(workers, streams)
}
