package numeric

// Float64s returns a copy of v for linear algebra.
func Float64s(v []float32) []float64 {
	out := make([]float64, len(v))
	Copy(out, v)
	return out
}

// Float32s returns a copy of v for graphs and files.
func Float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// Scaled returns k v.
func Scaled(v []float32, k float32) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = k * x
	}
	return out
}

// Filled returns a slice of n values v.
func Filled(v float32, n int) []float32 {
	out := make([]float32, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// Copy converts src into dst, which must be at least as long.
func Copy(dst []float64, src []float32) {
	for i, v := range src {
		dst[i] = float64(v)
	}
}
