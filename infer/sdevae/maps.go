package sdevae

import "gonum.org/v1/gonum/mat"

// applied is the d² × d² matrix that takes L to Map' L, both row by row.
func (r *reference) applied() []float32 {
	d := len(r.mean)
	out := make([]float32, d*d*d*d)
	for i := range d {
		for j := range d {
			for k := range d {
				out[(j*d+k)*d*d+i*d+k] = float32(r.to.At(j, i))
			}
		}
	}
	return out
}

// head is the encoder's last layer in the frame of reference: (h W + b - mean) Map.
func (r *reference) head(w, b []float32, features int) (w2, b2 []float32) {
	d := len(r.mean)
	shifted := make([]float64, d)
	for i := range d {
		shifted[i] = float64(b[i]) - r.mean[i]
	}
	return product(wide(w), features, r.to), product(shifted, 1, r.to)
}

// tail is the decoder's first layer from the frame of reference: (z Back + mean) W + b.
func (r *reference) tail(w, b []float32, seed int) (w2, b2 []float32) {
	d := len(r.mean)
	matrix := mat.NewDense(d, seed, wide(w))
	var mapped, offset mat.Dense
	mapped.Mul(r.back, matrix)
	offset.Mul(mat.NewDense(1, d, r.mean), matrix)
	for i, v := range b {
		offset.Set(0, i, offset.At(0, i)+float64(v))
	}
	return narrow(mapped.RawMatrix().Data), narrow(offset.RawMatrix().Data)
}

// squared is Map with every entry squared: it takes variances of independent axes to the mapped axes' variances.
func (r *reference) squared() []float32 {
	d := len(r.mean)
	out := make([]float32, d*d)
	for i := range d {
		for j := range d {
			out[i*d+j] = float32(r.to.At(i, j) * r.to.At(i, j))
		}
	}
	return out
}

// product is the (n × d) matrix in rows times the d × d matrix to.
func product(rows []float64, n int, to *mat.Dense) []float32 {
	d, _ := to.Dims()
	var out mat.Dense
	out.Mul(mat.NewDense(n, d, rows), to)
	return narrow(out.RawMatrix().Data)
}

// narrowProduct is the (n × k) matrix a times the (k × m) matrix b.
func narrowProduct(a, b []float32, n, k, m int) []float32 {
	out := make([]float32, n*m)
	affine(out, a, b, make([]float32, m))
	return out
}
