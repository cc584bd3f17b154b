package frames

import (
	"testing"
	"time"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/stream"
	"driftscope/internal/suite"
)

// TestFrameAllocations: from the source to the estimate a frame takes no memory from Go's heap once the stream runs. Refinement, views and
// health, which are made beside it or at their own pace, are left out; what remains are a few objects of the runtime's in a second.
func TestFrameAllocations(t *testing.T) {
	if suite.MatsProfiled {
		t.Skip("the profile of Mats takes memory for each: make test runs this without")
	}
	p := pictures{side: 64, bits: 16}
	camera := &memorySource{ring: p.make(), seconds: 1}
	s, err := stream.Behind(t.Context(), config.Default(), nil, stream.Own{Source: camera, Steps: p.steps(), Applied: []uint64{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Run(t.Context(), s.Stages, pipeline.Options{Health: time.Hour}); err != nil {
		t.Fatal(err)
	}
	frames := camera.cold.frames - camera.warm.frames
	if frames == 0 {
		t.Fatal("no frame was counted")
	}
	if each := float64(camera.cold.allocs-camera.warm.allocs) / float64(frames); each > 0.25 {
		t.Errorf("%.2f allocations a frame in %d frames, expected none", each, frames)
	} else {
		t.Logf("%.4f allocations a frame in %d frames", each, frames)
	}
}
