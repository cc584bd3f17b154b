package onnx

import (
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/numeric"
)

// applied returns the d² × d² matrix that maps L to To' L, both row by row.
func applied(r *gauge.Map) []float32 {
	d := len(r.Mean)
	out := make([]float32, d*d*d*d)
	for i := range d {
		for j := range d {
			for k := range d {
				out[(j*d+k)*d*d+i*d+k] = float32(r.To.At(j, i))
			}
		}
	}
	return out
}

// head returns the encoder's last layer in the gauge's coordinates: (h W + b - mean) To.
func head(r *gauge.Map, w, b []float32, features int) (w2, b2 []float32) {
	d := len(r.Mean)
	shifted := make([]float64, d)
	for i := range d {
		shifted[i] = float64(b[i]) - r.Mean[i]
	}
	return product(numeric.Float64s(w), features, r.To), product(shifted, 1, r.To)
}

// tail returns the decoder's first layer from the gauge's coordinates: (z Back + mean) W + b.
func tail(r *gauge.Map, w, b []float32, seed int) (w2, b2 []float32) {
	d := len(r.Mean)
	matrix := mat.NewDense(d, seed, numeric.Float64s(w))
	var mapped, offset mat.Dense
	mapped.Mul(r.Back, matrix)
	offset.Mul(mat.NewDense(1, d, r.Mean), matrix)
	for i, v := range b {
		offset.Set(0, i, offset.At(0, i)+float64(v))
	}
	return numeric.Float32s(mapped.RawMatrix().Data), numeric.Float32s(offset.RawMatrix().Data)
}

// squared returns To with every entry squared. This matrix maps the variances of independent axes to the variances of the mapped axes.
func squared(r *gauge.Map) []float32 {
	d := len(r.Mean)
	out := make([]float32, d*d)
	for i := range d {
		for j := range d {
			out[i*d+j] = float32(r.To.At(i, j) * r.To.At(i, j))
		}
	}
	return out
}

// product returns the (n × d) matrix in rows times the d × d matrix to.
func product(rows []float64, n int, to *mat.Dense) []float32 {
	d, _ := to.Dims()
	var out mat.Dense
	out.Mul(mat.NewDense(n, d, rows), to)
	return numeric.Float32s(out.RawMatrix().Data)
}

// narrowProduct returns the (n × k) matrix a times the (k × m) matrix b.
func narrowProduct(a, b []float32, n, k, m int) []float32 {
	out := make([]float32, n*m)
	numeric.Affine(out, a, b, make([]float32, m))
	return out
}
