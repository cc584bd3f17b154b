package message

import (
	"slices"
	"testing"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// TestFitSwaps: swaps are the first entries to go, and are counted.
func TestFitSwaps(t *testing.T) {
	m := sinktest.Crowd(6, 10)
	_, lines := sinktest.Lines(t, (&Encoder{Stream: "dish"}).Encode, m)
	m.Objects.Swaps = []latent.Swap{{ID: 1, With: 2, P: 0.5}, {ID: 3, With: 4, P: 0.25}, {ID: 5, With: 6, P: 0.125}}
	e := &Encoder{Stream: "dish", Limit: len(lines[0]) + 80} // 60 bytes for one swap, 80 for two
	kinds, lines := sinktest.Lines(t, e.Encode, m)
	r, err := Decode(kinds[0], []byte(lines[0]))
	if err != nil {
		t.Fatal(err)
	}
	o := r.(*ObjectsRecord)
	if o.Swaps == nil || o.Swaps.ID[0] != 1 || e.Left() != 3-len(o.Swaps.ID) || len(o.ID) != 10 || len(o.Earlier.ID) != 10 || e.Left() == 0 {
		t.Errorf("swaps %+v, %d left out of %d bytes", o.Swaps, e.Left(), len(lines[0]))
	}
}

// TestFit: a record of objects is never larger than its limit, and fills it but for a twentieth where places are left out: a fiftieth by intent, and one place.
// Those that are kept are the most certain, of what was detected first; what is left out is counted, with places of earlier frames.
func TestFit(t *testing.T) {
	const n = 300
	m := sinktest.Crowd(6, n)
	_, lines := sinktest.Lines(t, (&Encoder{Stream: "dish"}).Encode, m)
	whole := len(lines[0])
	for name, c := range map[string]struct {
		limit         int
		objects, none bool // all objects have room; nothing has
	}{"no limit": {0, true, false}, "all": {whole, true, false}, "a byte too few": {whole - 1, true, false}, "three quarters": {whole * 3 / 4, true, false},
		"a quarter": {whole / 4, false, false}, "nothing": {100, false, true}} {
		e := &Encoder{Stream: "dish", Limit: c.limit}
		kinds, lines := sinktest.Lines(t, e.Encode, m)
		line := lines[0]
		r, err := Decode(kinds[0], []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		o := r.(*ObjectsRecord)
		kept := len(o.ID)
		if o.Earlier != nil {
			kept += len(o.Earlier.ID)
		}
		if e.Left() != 2*n-kept || int(o.Unsent) != e.Left() || (len(o.ID) == n) != c.objects || (kept == 0) != c.none || len(lines) != 1 {
			t.Errorf("%s: %d objects and %d places of %d, %d are said to be left out", name, len(o.ID), kept, 2*n, o.Unsent)
		}
		if c.none {
			continue
		}
		if full := c.limit == 0 || c.limit >= whole; full != (kept == 2*n) || !full && (len(line) > c.limit || len(line) < c.limit*19/20) {
			t.Errorf("%s: %d bytes with %d places, the limit is %d", name, len(line), kept, c.limit)
		}
		if !slices.IsSorted(o.ID) {
			t.Errorf("%s: the numbers are not in order", name)
		}
		if n := len(o.ID); n < 200 { // two thirds were detected; of those with the higher number doubt is less
			for i, id := range o.ID {
				if o.Marks[i] != 0 || id != o.ID[0]+uint64(3*(i/2))+uint64(i%2) && id != o.ID[0]+uint64(3*(i/2))+uint64(2*(i%2)) {
					t.Errorf("%s: object %d is kept, marks %d", name, id, o.Marks[i])
				}
			}
			if last := o.ID[n-1]; last != 300 && last != 299 {
				t.Errorf("%s: the last is %d", name, last)
			}
		}
		e.Limit = 0
		if sinktest.Lines(t, e.Encode, sinktest.Event()); e.Left() != 0 {
			t.Errorf("%s: %d places are left out of an event", name, e.Left())
		}
	}
	e := &Encoder{Stream: "dish", Limit: 10_000}
	emit := func(latent.Kind, []byte) error { return nil }
	if n := testing.AllocsPerRun(20, func() {
		if err := e.Encode(m, emit); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%g allocations a frame", n)
	}
}
