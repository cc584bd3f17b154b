package law

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// TestLag: for a film that shows objects late, the sentence states the steps used, and its two states are not tested for switching.
func TestLag(t *testing.T) {
	suite.Calculation(t)
	rng := rand.New(rand.NewPCG(11, 12))
	var r rows
	for particle := range 120 {
		sd := math.Sqrt(2 * []float64{1, 20}[particle%2] * dt)
		var at, shown [2]float64
		for frame := range 60 {
			for k := range at {
				at[k] += sd * rng.NormFloat64()
				shown[k] += (at[k] - shown[k]) / 2
			}
			r.add(frame, particle, 50+shown[0], 50+shown[1])
		}
	}
	f := printed(t, Command{Tracks: r.file(t), DT: dt, JSON: true})
	if len(f.States) < 2 || f.Switching != nil || !strings.Contains(f.Says, "Compression smears motion") {
		t.Errorf("states %+v, switching %+v, %q", f.States, f.Switching, f.Says)
	}
}
