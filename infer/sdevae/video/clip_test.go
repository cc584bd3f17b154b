package video_test

import (
	"math"
	"testing"

	"driftscope/infer/sdevae/sdevaetest"
)

// TestClipMayBeRounded: a value that averaging has rounded to just above 1 is accepted.
func TestClipMayBeRounded(t *testing.T) {
	c := sdevaetest.Walk(60, 3)
	c.Frame(3)[7], c.Frame(4)[7] = math.Nextafter32(1, 2), -1e-7
	if err := c.Check(); err != nil {
		t.Error(err)
	}
}
