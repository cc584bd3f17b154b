package message

import "time"

const (
	leasedFor  = 3 * time.Second // silence of the worker of a stream after which a run without a lease counts
	mostLeased = 1024            // streams whose lease is remembered
)

// Newest holds the newest known lease of every stream. The zero value is empty. Only one goroutine may use it.
type Newest struct{ leases map[string]leased }

// leased is the lease of a stream, and the time of its holder's last message.
type leased struct {
	epoch uint64
	heard time.Time
}

// Counts reports whether a message of an epoch counts, and returns the newest epoch. A worker that was frozen or disconnected may still publish while another
// worker runs the stream. A run of the same name without a lease (epoch 0) counts only while no worker publishes.
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
