package network

import (
	"slices"
	"testing"

	"driftscope/infer/sdevae/video"
)

func TestClock(t *testing.T) {
	c := &video.Clip{Times: []float64{5, 7, 6, 4, 9, 100, 101, 103}, Trajectory: []uint64{2, 2, 2, 2, 2, 3, 3, 4}}
	if got := c.Span(); got != 4 {
		t.Errorf("the longest trajectory lasts 4 s, found %g", got)
	}
	m := &Model{Span: 2} // T of another, shorter clip
	if got, want := m.Clock(c, c.Frames()), []float32{-1, 1, 0, -1, 1, -1, 0, -1}; !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
	if got := new(Model).Clock(c, c.Frames()); got != nil {
		t.Errorf("found %v, a model without a clock has none", got)
	}
}
