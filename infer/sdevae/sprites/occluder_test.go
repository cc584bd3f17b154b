package sprites

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/internal/suite"
)

// TestOccluder: the fitted alpha equals the true one, and the object is located over its background to a quarter of a pixel, the error of a parabola through
// whole pixels for a disc with an edge of one pixel.
func TestOccluder(t *testing.T) {
	suite.Long(t)
	for name, hides := range map[string]float64{"adds its light": 0, "hides half": 0.5, "hides all": 1} {
		t.Run(name, func(t *testing.T) {
			clip, truth, backgrounds, _ := sdevaetest.Crossing(200, 5, sdevaetest.Disc, hides)
			m := Find(t.Context(), clip, clip.Frames(), 1, rand.New(rand.NewPCG(3, 4)))
			places, _ := m.Track(clip, clip.Frames())
			v := NewOccluder(m, clip, clip.Frames(), places, backgrounds)
			v.shift.Set(0, 0)
			v.render(v.picture, v.alpha)
			if got := v.picture[0]; math.Abs(got-hides) > 0.1 {
				t.Errorf("it hides %.2f of the background at its centre, expected %.2f", got, hides)
			}
			size, missed, drawn := clip.Size(), 0.0, make([]float32, len(backgrounds))
			copy(drawn, backgrounds)
			var worst float64
			dx, dy := 0.0, 0.0
			for f := range clip.Frames() {
				at := v.Locate(clip.Frame(f), backgrounds[f*size:(f+1)*size])
				ex, ey := at[0]-truth[2*f], at[1]-truth[2*f+1]
				dx, dy = dx+ex/200, dy+ey/200
				missed += (ex*ex + ey*ey) / 200
				worst = max(worst, math.Hypot(ex, ey))
				v.Draw(drawn[f*size:(f+1)*size], at[0], at[1])
			}
			if rms := math.Sqrt(missed - dx*dx - dy*dy); rms > 0.25 {
				t.Errorf("positions are off by %.2g px, at most by %.2g", rms, worst)
			}
			if left := numeric.SquaredError(clip.Pixels, drawn) / 200 / float64(size); left > 2*0.01*0.01 {
				t.Errorf("rendered pictures are off by %.2g, in noise of %.2g", math.Sqrt(left), 0.01)
			}
		})
	}
}
