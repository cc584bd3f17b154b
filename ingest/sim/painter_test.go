package sim

import (
	"math"
	"slices"
	"testing"
)

// A molecule is drawn at the given position, with the noise of the seed.
func TestPainter(t *testing.T) {
	drawn := func(seed uint64, z []float64) (Picture, bool) {
		p, err := NewPainter(seed)
		if err != nil {
			t.Fatal(err)
		}
		var dst Picture
		inside := p.Draw(&dst, z)
		return dst, inside
	}
	here, inside := drawn(1, []float64{3, -2})
	again, _ := drawn(1, []float64{3, -2})
	if !inside || !slices.Equal(here.U16, again.U16) {
		t.Error("the same seed draws another picture")
	}
	empty, inside := drawn(1, []float64{1e3, 0})
	if inside {
		t.Error("a place beyond the picture is said to be inside")
	}
	var sum, x, y float64
	for k, v := range here.U16 {
		if light := float64(v) - float64(empty.U16[k]); math.Abs(light) > 1 { // the noise of the background is the same in both pictures
			sum, x, y = sum+light, x+light*(float64(k%cameraSide)+0.5), y+light*(float64(k/cameraSide)+0.5)
		}
	}
	// The coil has 9000 photoelectrons. The two draws of the background, with a variance of 40 per pixel up to 25 px from the middle, cause an error of sd 0.5
	// px per axis. The tolerance of 2 px is four sd.
	if dx, dy := x/sum-cameraSide/2-3*pxPerUM, y/sum-cameraSide/2+2*pxPerUM; math.Hypot(dx, dy) > 2 {
		t.Errorf("the molecule is %.2f, %.2f px beside its place", dx, dy)
	}
}
