package main

import (
	"encoding/json"
	"testing"

	"driftscope/cmd/driftlab/internal/bench/frames"
	"driftscope/internal/suite"
)

// TestBenchNATS: a subscriber receives the latents, with live and with durable publishing, and the figures are consistent. Their size depends on the machine.
func TestBenchNATS(t *testing.T) {
	suite.Long(t)
	for _, durable := range []string{"--durable=false", "--durable"} {
		o := drive(t, t.TempDir(), "bench", "nats", "--fps", "50", "--seconds", "0.5", "--json", durable)
		var found frames.NATSFindings
		if err := json.Unmarshal([]byte(o.out), &found); err != nil || o.status != 0 {
			t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errors)
		}
		if found.Latents < 10 || found.Missed != 0 || found.FPS != 50 || found.Cores == 0 || found.Durable != (durable == "--durable") || len(found.Stages) < 6 {
			t.Errorf("found %+v", found)
		}
		for name, q := range map[string]frames.Quantiles{"latency": found.Latency, "publish": found.Publish} {
			if !(0 < q.P50 && q.P50 <= q.P95 && q.P95 <= q.P99 && q.P99 <= q.Max) {
				t.Errorf("%s: %+v", name, q)
			}
		}
		if found.Publish.P50 >= found.Latency.P50 {
			t.Errorf("publishing alone takes %g ms, the whole path %g ms", found.Publish.P50, found.Latency.P50)
		}
	}
	drive(t, t.TempDir(), "bench", "nats", "--fps", "0.5").check(t, 2, "expected 1 to 10000")
}
