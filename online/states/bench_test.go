package states

import (
	"fmt"
	"testing"
)

// BenchmarkInfer infers the law of 1,000 objects over 50 frames, with one to three states.
func BenchmarkInfer(b *testing.B) {
	film := Film{dt, 0, 0.01}
	for k, of := range [][][2]float64{{{2, 1}}, {{1, 0.6}, {10, 0.4}}, {{1, 0.3}, {4, 0.4}, {16, 0.3}}} {
		segments := population(1, film, 1000, 50, of...)
		b.Run(fmt.Sprint(k+1), func(b *testing.B) {
			for b.Loop() {
				Infer(segments, Options{})
			}
		})
	}
}
