package numeric

import (
	"math"
	"strconv"
)

func Sqrt(v float64) float64        { return math.Sqrt(v) }
func InverseSqrt(v float64) float64 { return 1 / math.Sqrt(v) }
func Itoa(i int) string             { return strconv.Itoa(i) }

// wide and narrow convert between the graph's float32 and the linear algebra's float64.
func Float64s(v []float32) []float64 {
	out := make([]float64, len(v))
	Copy(out, v)
	return out
}

func Float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

func Scaled(v []float32, k float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = k * x
	}
	return out
}

func Filled(v float32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func Copy(dst []float64, src []float32) {
	for i, v := range src {
		dst[i] = float64(v)
	}
}
