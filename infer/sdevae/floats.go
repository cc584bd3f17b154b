package sdevae

import (
	"math"
	"strconv"
)

func sqrt(v float64) float64        { return math.Sqrt(v) }
func inverseSqrt(v float64) float64 { return 1 / math.Sqrt(v) }
func itoa(i int) string             { return strconv.Itoa(i) }

// wide and narrow convert between the graph's float32 and the linear algebra's float64.
func wide(v []float32) []float64 {
	out := make([]float64, len(v))
	copyFloats(out, v)
	return out
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

func scaled(v []float32, k float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = k * x
	}
	return out
}

func filledSlice(v float32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func copyFloats(dst []float64, src []float32) {
	for i, v := range src {
		dst[i] = float64(v)
	}
}
