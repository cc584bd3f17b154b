package message

import (
	"fmt"
	"testing"
	"time"
)

// TestNewest: a message of an older lease never counts, however long the newer lease is silent. A message without a lease counts once the lease is silent.
func TestNewest(t *testing.T) {
	var n Newest
	noon := time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		stream string
		epoch  uint64
		after  time.Duration
		newest uint64
		fine   bool
	}{
		{"bead", 0, 0, 0, true},
		{"bead", 17, 0, 17, true},
		{"bead", 0, leasedFor, 17, false},
		{"cell", 0, 0, 0, true},
		{"cell", 3, 0, 3, true},
		{"bead", 20, time.Second, 20, true},
		{"bead", 17, 2 * time.Second, 20, false},
		{"bead", 20, 2 * time.Second, 20, true},
		{"bead", 0, 2*time.Second + leasedFor + 1, 20, true},
		{"bead", 17, time.Hour, 20, false},
		{"bead", 1 << 62, time.Hour, 1 << 62, true},
	} {
		if newest, fine := n.Counts(c.stream, c.epoch, noon.Add(c.after)); newest != c.newest || fine != c.fine {
			t.Errorf("%d: %s at epoch %d: found %d, %v, expected %d, %v", i, c.stream, c.epoch, newest, fine, c.newest, c.fine)
		}
	}
	for i := range 3 * mostLeased {
		n.Counts(fmt.Sprint(i), 1, noon)
	}
	if len(n.leases) > mostLeased {
		t.Errorf("%d leases are remembered, expected at most %d", len(n.leases), mostLeased)
	}
}
