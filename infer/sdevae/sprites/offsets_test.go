package sprites

import (
	"math"
	"testing"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// TestWithoutOffsets: films lose the differences between their backgrounds but keep the motion within them.
func TestWithoutOffsets(t *testing.T) {
	suite.Calculation(t)
	plain, _ := sdevaetest.Drifting(200, 5, sdevaetest.Ring)
	clip := sdevaetest.Films(50)
	level := WithoutOffsets(clip, t.Context(), clip.Frames(), 1)
	var backgrounds []float32
	for film := range 4 {
		background := make([]float32, clip.Size())
		for i := range background {
			background[i] = level.Frame(50 * film)[i] - plain.Frame(50 * film)[i]
			for f := 50 * film; f < 50*film+50; f++ {
				if v := level.Frame(f)[i] - plain.Frame(f)[i]; clip.Frame(f)[i] < 1 && math.Abs(float64(v-background[i])) > 1e-6 {
					t.Fatalf("frame %d changes by %g at pixel %d, the first of its film by %g", f, v, i, background[i])
				}
			}
		}
		backgrounds = append(backgrounds, background...)
	}
	// The median of 50 frames with noise of 0.01 is off by 0.0018, with the remains of the ring by 0.0022. The backgrounds differed by 0.060.
	if rms := math.Sqrt(numeric.SquaredError(backgrounds, numeric.MeanRow(backgrounds, 4, clip.Size())) / float64(len(backgrounds))); rms > 0.004 {
		t.Errorf("backgrounds differ by %.4f", rms)
	}
}

// TestOffsetsLeftAlone: films with equal backgrounds do not change, even if a lingering object makes their medians differ. Short and single films do not change
// either.
func TestOffsetsLeftAlone(t *testing.T) {
	suite.Calculation(t)
	still := sdevaetest.Lingering()
	if _, apart := still.Medians(still.Films()); apart <= maxOffsets {
		t.Errorf("films differ by %.2f: the ring does not linger", apart)
	}
	for name, clip := range map[string]*video.Clip{"lingering": still, "short": sdevaetest.Films(40), "single": sdevaetest.Films(200)} {
		if WithoutOffsets(clip, t.Context(), clip.Frames(), 1) != clip {
			t.Error(name, "films are leveled")
		}
	}
}
