package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"driftscope/cmd/driftlab/internal/bench/frames"
	"driftscope/internal/suite"
)

// TestBenchFrames: both sides run, and their figures are consistent. Their size depends on the machine.
func TestBenchFrames(t *testing.T) {
	suite.Long(t)
	o := drive(t, t.TempDir(), "bench", "frames", "--size", "64", "--bits", "16", "--rounds", "1", "--seconds", "0.2", "--json")
	var found frames.Findings
	if err := json.Unmarshal([]byte(o.out), &found); err != nil || o.status != 0 {
		t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errors)
	}
	if len(found.Sizes) != 1 {
		t.Fatalf("found %+v", found)
	}
	row := found.Sizes[0]
	if !(row.FPS > 0 && row.Kernels > 0 && row.OpenCV > 0 && row.CPU > 0 && row.Peak > 0) || row.Ratio != row.FPS/row.Kernels || row.Over != row.FPS/row.OpenCV {
		t.Errorf("found %+v", row)
	}
	if !(0 < row.P50 && row.P50 <= row.P95 && row.P95 <= row.P99) {
		t.Errorf("percentiles %g, %g, %g", row.P50, row.P95, row.P99)
	}
	if len(row.Loads) != len(frames.Loads) || len(row.Stages) < 8 {
		t.Errorf("%d loads, %d stages", len(row.Loads), len(row.Stages))
	}
	if row.Python == nil && found.Missing == "" {
		t.Error("no comparison with Python, and no reason given")
	}
	if row.Calls == nil && found.NoCalls == "" {
		t.Error("no call from Python was measured, and no reason given")
	}
	if o := drive(t, t.TempDir(), "bench", "frames", "--bits", "12"); o.status != 2 {
		t.Errorf("status %d, %s", o.status, o.errors)
	}
}

// TestBenchFramesSource: the bench tries more and more streams until frames are lost, and reports the largest number without loss.
func TestBenchFramesSource(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	text := "stream: a\nsource: {sim: {name: balls-ou, realtime: false}}\nonline: {state: law}\n"
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := drive(t, folder, "bench", "frames", "--source", "a.yaml", "--rate", "700", "--seconds", "0.3", "--json")
	var found frames.Capacity
	if err := json.Unmarshal([]byte(o.out), &found); err != nil || o.status != 0 {
		t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errors)
	}
	if found.Rate != 700 || found.Alone.FPS <= 0 || found.Alone.Width != 64 || len(found.Trials) == 0 {
		t.Errorf("found %+v", found)
	}
	if found.Breaks != found.Held+1 && !(found.Breaks == 0 && found.Held == frames.MaxStreams) {
		t.Errorf("keeps up with %d streams, loses frames at %d", found.Held, found.Breaks)
	}
	if _, err := os.Stat(filepath.Join(folder, "law")); err == nil {
		t.Error("the configuration's own state was written")
	}
	drive(t, folder, "bench", "frames", "--rate", "5").check(t, 2, "--rate: belongs to a stream: give --source")
}
