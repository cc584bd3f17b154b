package message

import (
	"strings"
	"testing"
)

// TestWorkerText: the text of a worker's message always fits on one line.
func TestWorkerText(t *testing.T) {
	r := WorkerRecord{Version: "1.2\n", Cores: 8, Taken: 1.5}
	for want, change := range map[string]func(*WorkerRecord){
		"(1.2 ): 1.5 of 8 cores taken; it runs nothing":                             func(*WorkerRecord) {},
		"(1.2 ): 1.5 of 8 cores taken, labels a, b; it has handed over its streams": func(r *WorkerRecord) { r.Labels, r.Draining = []string{"a", "b"}, true },
		"(1.2 ): 1.5 of 8 cores taken; runs bead at epoch 17 failed (no camera)": func(r *WorkerRecord) {
			r.Streams = []RunningRecord{{Name: "bead", Epoch: 17, State: "failed", Problem: "no camera"}}
		},
		"(1.2 ): 1.5 of 8 cores taken; it runs nothing; no worker can run far (no label)": func(r *WorkerRecord) { r.Waiting = []WaitingRecord{{"far", "no label"}} },
	} {
		said := r
		change(&said)
		if got := said.Text(); got != want {
			t.Errorf("found    %s\nexpected %s", got, want)
		}
	}
	r.Waiting = make([]WaitingRecord, mostNamed+2)
	if got := r.Text(); strings.Count(got, "()") != mostNamed || !strings.HasSuffix(got, " and 2 more") {
		t.Errorf("found %s, expected %d streams named", got, mostNamed)
	}
}
