package main

import (
	"encoding/json"
	"testing"
)

// TestBenchFrames: both sides run, and their figures hang together. How large they are is the machine's affair.
func TestBenchFrames(t *testing.T) {
	o := drive(t, t.TempDir(), "bench", "frames", "--size", "64", "--bits", "16", "--rounds", "1", "--seconds", "0.2", "--json")
	var found frameFindings
	if err := json.Unmarshal([]byte(o.out), &found); err != nil || o.status != 0 {
		t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errors)
	}
	if len(found.Sizes) != 1 {
		t.Fatalf("found %+v", found)
	}
	row := found.Sizes[0]
	if !(row.FPS > 0 && row.Kernels > 0 && row.CPU > 0 && row.Peak > 0) || row.Ratio != row.FPS/row.Kernels {
		t.Errorf("found %+v", row)
	}
	if !(0 < row.P50 && row.P50 <= row.P95 && row.P95 <= row.P99) {
		t.Errorf("percentiles %g, %g, %g", row.P50, row.P95, row.P99)
	}
	if len(row.Loads) != len(loads) || len(row.Stages) < 8 {
		t.Errorf("%d loads, %d stages", len(row.Loads), len(row.Stages))
	}
	if row.Python == nil && found.Missing == "" {
		t.Error("no comparison with Python, and no reason")
	}
	if o := drive(t, t.TempDir(), "bench", "frames", "--bits", "12"); o.status != 2 {
		t.Errorf("status %d, %s", o.status, o.errors)
	}
}
