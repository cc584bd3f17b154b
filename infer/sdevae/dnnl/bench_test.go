package dnnl

import (
	"testing"
	"time"
)

// BenchmarkTrainStep runs one training step of the paper's trunks (forward, backward for weights and data), without the linear layers, the loss and Adam. The
// encoder's pictures need no gradient.
func BenchmarkTrainStep(b *testing.B) {
	for _, c := range []struct {
		name   string
		in     Shape
		layers []Layer
		inner  bool
	}{
		{"encoder", Shape{3, 64, 64}, encoder(), false},
		{"decoder", Shape{64, 8, 8}, decoder(), true},
	} {
		b.Run(c.name, func(b *testing.B) {
			const n = 100
			p := pose(b, c.in, c.layers, n, n)
			if !c.inner {
				p.dx = nil
			}
			p.run(b)
			least := time.Duration(1 << 62)
			for b.Loop() {
				start := time.Now()
				p.run(b)
				least = min(least, time.Since(start))
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*n), "ms/frame")
			b.ReportMetric(least.Seconds()*1e3/n, "best-ms/frame")
		})
	}
}
