package cluster

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"driftscope/internal/site"
	"driftscope/sinks/message"
)

// TestBook: what is lost, doubled and out of order is counted, and whose epochs fall.
func TestBook(t *testing.T) {
	for want, results := range map[string][][2]uint64{ // frame, epoch
		"4 results, 0 lost, 0 doubled, 0 fell, 1 moves": {{0, 5}, {1, 5}, {2, 9}, {3, 9}},
		"3 results, 1 lost, 0 doubled, 0 fell, 0 moves": {{0, 5}, {2, 5}, {3, 5}},
		"4 results, 0 lost, 1 doubled, 0 fell, 1 moves": {{0, 5}, {1, 5}, {1, 9}, {2, 9}},
		"3 results, 1 lost, 1 doubled, 0 fell, 0 moves": {{0, 5}, {2, 5}, {1, 5}},
		"3 results, 0 lost, 0 doubled, 1 fell, 1 moves": {{0, 5}, {1, 9}, {2, 5}},
	} {
		b := &book{stream: "bead"}
		at := time.Unix(100, 0)
		for i, r := range results {
			b.result(&message.LatentRecord{Seq: r[0], Header: message.Header{Epoch: r[1]}}, at.Add(time.Duration(i*i)*time.Second))
		}
		if got := fmt.Sprintf("%d results, %d lost, %d doubled, %d fell, %d moves", b.results, b.lost, b.doubled, b.fell, b.stand().moves); got != want {
			t.Errorf("%v: found %s, expected %s", results, got, want)
		}
		if n := len(results); b.stand().longest != time.Duration(2*n-3)*time.Second {
			t.Errorf("%v: the longest pause is %v", results, b.stand().longest)
		}
		if b.lost+b.doubled+b.fell > 0 && !strings.HasPrefix(b.odd[0], "bead: frame ") {
			t.Errorf("%v: odd are %q", results, b.odd)
		}
		if at, ok := b.after(5); ok != (b.stand().epoch > 5) || ok && !at.After(time.Unix(100, 0)) {
			t.Errorf("%v: after epoch 5 comes %v, %t", results, at, ok)
		}
	}
}

// TestHolders: an epoch of two processes is found, whoever said it.
func TestHolders(t *testing.T) {
	h := holders{by: map[tenant]holding{}}
	began := time.Now()
	h.note("bead", 5, "A")
	h.look([]site.Lease{{Stream: "bead", State: site.Taken, Record: site.Record{ID: "A", Epoch: 5}}, {Stream: "bead", State: site.Still, Record: site.Record{ID: "B", Epoch: 5}}})
	if len(h.twice()) != 0 {
		t.Errorf("found %v, expected none", h.twice())
	}
	h.note("bead", 9, "B")
	h.note("bead", 5, "B")
	if len(h.twice()) != 1 || !strings.Contains(h.twice()[0], "epoch 5") {
		t.Errorf("found %v, expected epoch 5", h.twice())
	}
	if at, ok := h.claimed("bead", 5); !ok || at.Before(began) {
		t.Errorf("claimed at %v, %t", at, ok)
	}
	if _, ok := h.claimed("bead", 9); ok {
		t.Error("nothing was claimed after epoch 9")
	}
}

// TestLaws: a law within the interval, one beyond it, and increments that one of the two lacks.
func TestLaws(t *testing.T) {
	unbroken := &message.SDERecord{Transitions: 100, Sigma: message.Numbers{1, 2}, SigmaLow: message.Numbers{0.9, 1.8}, SigmaHigh: message.Numbers{1.1, 2.2}}
	var f laws
	f.add(&message.SDERecord{Transitions: 100, Sigma: message.Numbers{1.05, 2}}, unbroken)
	f.add(&message.SDERecord{Transitions: 97, Sigma: message.Numbers{1, 2.3}}, unbroken)
	if got := latest(map[uint64]*message.SDERecord{10: {Seq: 10}, 20: {Seq: 20}}, 19); got == nil || got.Seq != 10 {
		t.Errorf("found %+v, expected the law of frame 10", got)
	}
	if f.Streams != 2 || f.Within != 1 || f.Differ != 3 || f.Transitions != 100 || f.Largest < 1.49 || f.Largest > 1.51 {
		t.Errorf("found %+v", f)
	}
}

// TestSum: takeovers count apart from the pauses that a server's death makes.
func TestSum(t *testing.T) {
	var f findings
	f.sum([]trial{{Fault: faultKill, Takeover: []float64{5, 7}}, {Fault: faultServer, Pause: 12, Disturbed: 3}, {Fault: faultFreeze, Takeover: []float64{6}, Never: 1}})
	if f.Takeover != (spread{6, 7, 3}) || f.Pause != (spread{12, 12, 1}) || f.Disturbed != 3 || f.Never != 1 || f.ByFault[faultKill] != (spread{5, 7, 2}) {
		t.Errorf("found %+v", f)
	}
	var text strings.Builder
	f.print(&text)
	for _, want := range []string{"3 trials", "| kill | 5.00 | 7.00 | 2 |", "| server | 12.00 |"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is missing in\n%s", want, text.String())
		}
	}
}
