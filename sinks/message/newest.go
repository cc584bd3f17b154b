package message

import "time"

const (
	leasedFor  = 3 * time.Second // without a word of the worker that has a stream, before a run without a lease counts
	mostLeased = 1024            // streams whose lease is remembered
)

// Newest is the newest lease that a subscriber has heard of, of every stream. The zero value knows none. It is for one goroutine.
type Newest struct{ leases map[string]leased }

// leased is the lease of a stream, and when its holder was last heard.
type leased struct {
	epoch uint64
	heard time.Time
}

// Counts says whether a message of an epoch counts, and which epoch is the newest: a worker that was frozen or cut off may speak on while another has the stream.
// A run of the same name without a lease, whose epoch is 0, counts while no worker is heard.
func (n *Newest) Counts(stream string, epoch uint64, now time.Time) (newest uint64, fine bool) {
	last, known := n.leases[stream]
	switch {
	case epoch == 0:
		return last.epoch, !known || now.Sub(last.heard) > leasedFor
	case epoch < last.epoch:
		return last.epoch, false
	case n.leases == nil || !known && len(n.leases) >= mostLeased:
		n.leases = map[string]leased{}
	}
	n.leases[stream] = leased{epoch, now}
	return epoch, true
}
