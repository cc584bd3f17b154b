package network

import (
	"slices"

	"driftscope/infer/sdevae/video"
)

// Clock returns the clock 2t/T - 1 of the given frames, where t is the time since the frame's trajectory began. It stops at 1, as in the tracker on other
// recordings. The result is nil if the model has no clock.
func (m *Model) Clock(c *video.Clip, frames []int) []float32 {
	if m.Span == 0 {
		return nil
	}
	ages, out := c.Ages(), make([]float32, len(frames))
	for k, f := range frames {
		out[k] = float32(2*min(ages[f]/m.Span, 1) - 1)
	}
	return out
}

// addClock adds clock × w to the rows of dst, one row per frame. If w is empty, it does nothing.
func addClock(dst, clock, w []float32) {
	if len(w) == 0 {
		return
	}
	for i := range dst {
		dst[i] += clock[i/len(w)] * w[i%len(w)]
	}
}

// InSeconds converts one of the encoder's last layers to the file's form, where t in seconds follows the features and has one more row of weights.
func (m *Model) InSeconds(w, b, clock []float32) (w2, b2 []float32) {
	b2 = slices.Clone(b)
	for i, v := range clock { // v (2t/T - 1)
		w2 = append(w2, float32(2*float64(v)/m.Span))
		b2[i] -= v
	}
	return slices.Concat(w, w2), b2
}

// FromSeconds reverses InSeconds with the model's own T, and writes the clock's weights to clock. If the file has no clock, clock does not change.
func (m *Model) FromSeconds(w, b, clock []float32) (w2, b2 []float32) {
	features := m.Encoder.Out().Size() * len(b)
	for i, v := range w[features:] {
		clock[i] = float32(float64(v) * m.Span / 2)
		b[i] += clock[i]
	}
	return w[:features], b
}
