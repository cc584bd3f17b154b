package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// TestClockSteps: the wall clocks of a publisher and a run jump an hour forward and back while frames are stored and tracked. Every frame is stored and
// tracked once, in order.
func TestClockSteps(t *testing.T) {
	suite.Long(t)
	server := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
	folder := t.TempDir()
	written(t, folder, map[string]string{"bead.yaml": fmt.Sprintf(accessRun, server.URL(), "", server.URL(), "")})
	run := begin(t, folder, "run", "bead.yaml")
	run.until("the dashboard", func() bool { return run.says("dashboard at") })
	publish := begin(t, folder, "publish", fmt.Sprintf("sim:molecule?frames=%d&seed=1&realtime=false", accessFrames), "--subject", "camera.bead", "--url", server.URL(), "--durable")
	for i, off := range []time.Duration{time.Hour, -time.Hour, 0, -time.Hour, time.Hour, 0} {
		time.Sleep(500 * time.Millisecond) // frames arrive during this time
		if err := suite.StepClock(run.c.Process.Pid, off); err != nil {
			if strings.Contains(err.Error(), "only be set on Linux on amd64") {
				t.Skip(err)
			}
			t.Fatal(err)
		}
		if err := suite.StepClock(publish.c.Process.Pid, -off); err != nil && !strings.Contains(publish.out.String(), "kept") { // on a slow machine it may have finished
			t.Fatalf("step %d: %v", i, err)
		}
	}
	run.tracks(publish, server.URL())
}
