package sprites

import (
	"math"
	"slices"
	"testing"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/suite"
)

// TestLooks: a frame rendered with its own look leaves almost no residual near the sprite, while the rigid sprite leaves a bead's swelling. Rendered two pixels
// further, the look moves along, up to the rounding of float32.
func TestLooks(t *testing.T) {
	suite.Calculation(t)
	clip, _, _ := sdevaetest.Trapped(100, 5)
	m, train, _ := find(t, clip)
	places, _ := m.Track(clip, clip.Frames())
	l, near := m.Looks(clip, train, places), m.reach(0)
	frame := train[0]
	at := places[2*frame : 2*frame+2]
	rigid, own := make([]float32, clip.Size()), make([]float32, clip.Size())
	m.Draw(rigid, at, 1)
	l.Draw(own, at, []int{frame})
	missed := func(drawn []float32) (sum float64) {
		f := m.Residual(&video.Clip{Channels: 1, Height: clip.Height, Width: clip.Width, Pixels: less(clip.Frame(frame), drawn), Times: []float64{0}, Trajectory: []uint64{0}}, []int{0})
		for ch := range f.left[0] {
			for j, v := range m.Background[ch] { // the rendered picture already has the background
				f.left[0][ch][j] += v
			}
		}
		m.shift.Set(-at[0], -at[1])
		for p, v := range m.pictureOf(f.left[0][0]) {
			if near[p] {
				sum += v * v
			}
		}
		return sum
	}
	if before, after := missed(rigid), missed(own); !(after < before/20) { // a shift between pixels causes ringing at the window's edge
		t.Errorf("with its own look %g is missed near the sprite, and %g without", after, before)
	}
	moved := make([]float32, clip.Size())
	l.Draw(moved, []float64{at[0] + 2, at[1] - 1}, []int{frame})
	m.shift.Set(0, 0)
	still := m.pictureOf(m.Background[0])
	rolled := make([]float32, clip.Size())
	clip.Roll(rolled, less(own, numeric.Float32s(still)), clip.Width-2, 1) // moves the picture two pixels to the right and one up
	worst := 0.0
	for p, v := range less(moved, numeric.Float32s(still)) {
		worst = max(worst, math.Abs(float64(v-rolled[p])))
	}
	if worst > 1e-5 {
		t.Errorf("two pixels on, a pixel is off by %g", worst)
	}
}

// TestLooksBound: looks that need too much memory are not stored.
func TestLooksBound(t *testing.T) {
	clip, _, _ := sdevaetest.Trapped(60, 5)
	m := New(clip)
	if l := m.Looks(clip, make([]int, maxLooks/m.plane.Size()+1), nil); l != nil {
		t.Error("more looks are stored than the bound allows")
	}
}

// less returns the difference of two pictures.
func less(a, b []float32) []float32 {
	out := slices.Clone(a)
	for i, v := range b {
		out[i] -= v
	}
	return out
}

// pictureOf returns the picture of a spectrum, in m's scratch memory, moved by the shift if one is set.
func (m *Set) pictureOf(spectrum []complex128) []float64 {
	clear(m.sum)
	m.shift.Add(m.sum, spectrum, 1)
	m.plane.Inverse(m.picture, m.sum)
	return slices.Clone(m.picture)
}
