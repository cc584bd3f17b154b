package network

import (
	"slices"

	"driftscope/infer/sdevae/video"
)

// Clock returns 2t/T - 1 of the given frames, t their time since their trajectory began. It is at most 1, as in the tracker on other
// recordings. It is nil if the model has no clock.
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

// addClock adds clock × w to the rows of dst, one per frame; nothing if w is empty.
func addClock(dst, clock, w []float32) {
	if len(w) == 0 {
		return
	}
	for i := range dst {
		dst[i] += clock[i/len(w)] * w[i%len(w)]
	}
}

// InSeconds converts one of the encoder's last layers to the file's form: t in seconds follows the features, as one more row of weights.
func (m *Model) InSeconds(w, b, clock []float32) (w2, b2 []float32) {
	b2 = slices.Clone(b)
	for i, v := range clock { // v (2t/T - 1)
		w2 = append(w2, float32(2*float64(v)/m.Span))
		b2[i] -= v
	}
	return slices.Concat(w, w2), b2
}

// FromSeconds undoes InSeconds with the model's own T, and writes the clock's weights to clock. It leaves clock alone if the file has none.
func (m *Model) FromSeconds(w, b, clock []float32) (w2, b2 []float32) {
	features := m.Encoder.Out().Size() * len(b)
	for i, v := range w[features:] {
		clock[i] = float32(float64(v) * m.Span / 2)
		b[i] += clock[i]
	}
	return w[:features], b
}
