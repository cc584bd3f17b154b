package main

import (
	"fmt"
	"testing"
	"time"

	"driftscope/internal/job/jobtest"
	"driftscope/internal/suite"
)

// TestLeafLink: a microscope publishes frames for storage over a leaf node, whose link to the site is cut three times. The publisher waits, and every frame
// is stored and tracked once.
func TestLeafLink(t *testing.T) {
	suite.Long(t)
	s := newTrialSite(t)
	s.driven("site", "init", "--nats", "context:hall_admin", "--replicas", "3", "--camera", "bead")
	end := s.work("hall-1", "hall_worker")
	s.write("bead.yaml", "stream: bead\nsource: {nats: {subject: camera.bead}}\nframes: {durable: true, replicas: 3, max_bytes: 1073741824}\nmodel: embedded:molecule\nonline: {checkpoint_every: 1s}\n")
	s.driven("stream", "add", "bead.yaml", "--nats", "context:hall_operator", "--replicas", "3")
	const frames = 600 // 12 s
	publish := begin(t, s.folder, "publish", fmt.Sprintf("sim:molecule?frames=%d&seed=2&realtime=false", frames), "--subject", "camera.bead", "--url", "context:bead", "--durable")
	for cut := range 3 {
		s.kept("bead", (cut+1)*frames/6)
		for _, wire := range s.uplinks {
			wire.Turn(suite.Lost)
		}
		time.Sleep(time.Duration(cut+1) * time.Second)
		for _, wire := range s.uplinks {
			wire.Turn(suite.Whole)
		}
	}
	if err := publish.c.Wait(); err != nil {
		t.Errorf("published: %v\n%s", err, publish.log.String())
	}
	t.Logf("%s%s", publish.out.String(), publish.log.String())
	jobtest.Once(t, "bead", s.kept("bead", frames), frames)
	end()
}
