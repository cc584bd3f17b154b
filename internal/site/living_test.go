package site

import (
	"slices"
	"testing"
)

// TestLiving: plans exclude a worker that has renewed neither a lease for a TTL nor its record recently, although the record exists for longer. A worker with
// a recent record has only lost a lease, and one without leases may be late.
func TestLiving(t *testing.T) {
	there := []Worker{{Name: "dead", ID: "A"}, {Name: "heard", ID: "B"}, {Name: "late", ID: "C"}, {Name: "dead", ID: "D"}}
	leases := []Lease{
		{State: Still, Record: Record{Worker: "dead", ID: "A"}},
		{State: Still, Record: Record{Worker: "heard", ID: "B"}},
		{State: Taken, Record: Record{Worker: "late", ID: "C"}},
	}
	var left []string
	for _, w := range living(slices.Clone(there), []Worker{{Name: "heard", ID: "B"}}, leases) {
		left = append(left, w.ID)
	}
	if !slices.Equal(left, []string{"B", "C", "D"}) {
		t.Errorf("left are %v, expected B, C and D, which is another process of the dead one's name", left)
	}
}

// TestNewer: the record of a worker of a later build, with unknown fields, can be read.
func TestNewer(t *testing.T) {
	w, err := readWorker("hall-1", []byte(`{"name":"hall-1","id":"A","cores":4,"version":"v99","gpus":{"count":2},"streams":[{"stream":"bead","epoch":7,"since":"2031"}]}`), 1)
	if err != nil || w.Cores != 4 || w.Version != "v99" || len(w.Streams) != 1 || w.Streams[0].Epoch != 7 {
		t.Errorf("found %+v, %v", w, err)
	}
}
