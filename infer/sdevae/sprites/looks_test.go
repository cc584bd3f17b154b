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

// TestLooks: a frame drawn with its own look leaves next to nothing of what it shows near the sprite, where the rigid sprite leaves a bead's swelling; drawn
// two pixels on, the look has gone along, to float32's rounding.
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
			for j, v := range m.Background[ch] { // what is drawn has it already
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
	if before, after := missed(rigid), missed(own); !(after < before/20) { // the shift between pixels rings at the window's edge
		t.Errorf("with its own look %g is missed near the sprite, and %g without", after, before)
	}
	moved := make([]float32, clip.Size())
	l.Draw(moved, []float64{at[0] + 2, at[1] - 1}, []int{frame})
	m.shift.Set(0, 0)
	still := m.pictureOf(m.Background[0])
	rolled := make([]float32, clip.Size())
	clip.Roll(rolled, less(own, numeric.Float32s(still)), clip.Width-2, 1) // a pixel is what was two to its left and one below
	worst := 0.0
	for p, v := range less(moved, numeric.Float32s(still)) {
		worst = max(worst, math.Abs(float64(v-rolled[p])))
	}
	if worst > 1e-5 {
		t.Errorf("two pixels on, a pixel is off by %g", worst)
	}
}

// TestLooksBound: looks that would take too much memory are not kept.
func TestLooksBound(t *testing.T) {
	clip, _, _ := sdevaetest.Trapped(60, 5)
	m := New(clip)
	if l := m.Looks(clip, make([]int, maxLooks/m.plane.Size()+1), nil); l != nil {
		t.Error("more looks are kept than there is room for")
	}
}

// less is the difference of two pictures.
func less(a, b []float32) []float32 {
	out := slices.Clone(a)
	for i, v := range b {
		out[i] -= v
	}
	return out
}

// pictureOf is what a spectrum shows, moved by the shift where one is set; it is m's scratch.
func (m *Set) pictureOf(spectrum []complex128) []float64 {
	clear(m.sum)
	m.shift.Add(m.sum, spectrum, 1)
	m.plane.Inverse(m.picture, m.sum)
	return slices.Clone(m.picture)
}
