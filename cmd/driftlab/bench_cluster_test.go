package main

import (
	"encoding/json"
	"testing"

	"driftscope/internal/suite"
)

// TestBenchCluster: a worker is killed and restarted, a worker freezes, a server dies, and a lease is forged. Every frame still has one result, in order, no
// two workers share an epoch, and the laws equal the laws of an undisturbed run. The time of a takeover depends on the machine.
func TestBenchCluster(t *testing.T) {
	suite.Long(t)
	o := drive(t, t.TempDir(), "bench", "cluster", "--trials", "4", "--faults", "kill,freeze,server,forge", "--workers", "2", "--streams", "2", "--ttl", "3s", "--driftscope", program(t), "--json")
	var found struct {
		Trials, Results, Lost, Doubled, Dropped, Frames, Moves int
		Fell                                                   int `json:"epochs_fell"`
		Shared                                                 int `json:"epochs_shared"`
		Never                                                  int `json:"never_taken"`
		Law                                                    struct{ Streams, Within int }
	}
	if err := json.Unmarshal([]byte(o.out), &found); err != nil || o.status != 0 {
		t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errors)
	}
	if found.Trials != 4 || found.Lost+found.Doubled+found.Dropped+found.Fell+found.Shared+found.Never > 0 || found.Results != 2*found.Frames || found.Frames < 100 ||
		found.Moves < 2 || found.Law.Streams != 2 || found.Law.Within != 2 {
		t.Errorf("found %+v\n%s", found, o.errors)
	}
	drive(t, t.TempDir(), "bench", "cluster", "--faults", "fire").check(t, 2, "expected some of")
}
