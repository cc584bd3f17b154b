package drift

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// tape evaluates a network on a mini-batch and computes its gradient, (1), by hand-written reverse-mode differentiation of one fixed shape in reused memory.
// It is not safe for concurrent use.
type tape struct {
	batch  int
	u      blas64.General   // scaled inputs, batch×d
	act    []blas64.General // activations of the hidden layers, batch×width
	slope  []blas64.General // their slopes, softplus' at the layer's input
	out    blas64.General   // μ, batch×d
	dOut   blas64.General   // ∂loss/∂μ, filled by the caller between forward and backward
	da, db blas64.General   // gradients in the backward pass, batch×width
}

// newTape returns a tape for mini-batches of the given size and networks of n's shape.
func newTape(n *Network, batch int) *tape {
	t := &tape{batch: batch, u: dense(batch, n.Dim), out: dense(batch, n.Dim), dOut: dense(batch, n.Dim)}
	for _, width := range n.Hidden {
		t.act = append(t.act, dense(batch, width))
		t.slope = append(t.slope, dense(batch, width))
	}
	widest := slices.Max(n.Hidden)
	t.da, t.db = dense(batch, widest), dense(batch, widest)
	return t
}

// forward writes μ at every row of z (batch×d) into t.out and stores the data for backward.
func (t *tape) forward(n *Network, z []float64) {
	for r := range t.batch {
		n.scaled(t.u.Data[r*n.Dim:(r+1)*n.Dim], z[r*n.Dim:(r+1)*n.Dim])
	}
	at, in := 0, t.u
	for l := range n.Hidden {
		at = layer(t.act[l], in, n.Weights, at)
		softplus(t.act[l].Data, t.slope[l].Data)
		in = t.act[l]
	}
	at = layer(t.out, in, n.Weights, at)
	multiply(blas.NoTrans, t.u, view(n.Weights[at:], n.Dim, n.Dim), 1, t.out)
}

// backward writes ∂loss/∂Weights into grad. The caller has written ∂loss/∂μ to t.dOut.
func (t *tape) backward(grad []float64, n *Network) {
	d := n.Dim
	at := n.Size() - d*d
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, t.u, t.dOut, 0, view(grad[at:], d, d))
	delta := t.dOut
	for l := len(n.Hidden); l >= 0; l-- {
		in := t.u
		if l > 0 {
			in = t.act[l-1]
		}
		at -= in.Cols*delta.Cols + delta.Cols
		bias := at + in.Cols*delta.Cols
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, in, delta, 0, view(grad[at:], in.Cols, delta.Cols))
		columnSums(grad[bias:bias+delta.Cols], delta)
		if l == 0 {
			return
		}
		back := view(t.da.Data, t.batch, in.Cols)
		multiply(blas.Trans, delta, view(n.Weights[at:], in.Cols, delta.Cols), 0, back)
		for i, s := range t.slope[l-1].Data {
			back.Data[i] *= s
		}
		delta = back
		t.da, t.db = t.db, t.da
	}
}

// layer writes in·W + b into dst, for the layer whose W starts at weights[at], and returns where the next layer starts.
func layer(dst, in blas64.General, weights []float64, at int) int {
	bias := at + in.Cols*dst.Cols
	end := bias + dst.Cols
	for r := range dst.Rows {
		copy(dst.Data[r*dst.Stride:], weights[bias:end])
	}
	multiply(blas.NoTrans, in, view(weights[at:], in.Cols, dst.Cols), 1, dst)
	return end
}

// serialRows is the number of rows per call of gonum. With four times as many rows, gonum would use goroutines on all cores, which cost more than the
// products themselves.
const serialRows = 64

// multiply writes x·W + beta·dst into dst, or x·W' + beta·dst.
func multiply(w blas.Transpose, x, weights blas64.General, beta float64, dst blas64.General) {
	for r := 0; r < x.Rows; r += serialRows {
		rows := min(serialRows, x.Rows-r)
		blas64.Gemm(blas.NoTrans, w, 1, band(x, r, rows), weights, beta, band(dst, r, rows))
	}
}

// band lends rows rows of m, starting at from.
func band(m blas64.General, from, rows int) blas64.General {
	return blas64.General{Rows: rows, Cols: m.Cols, Stride: m.Stride, Data: m.Data[from*m.Stride:]}
}

// columnSums writes the sum of m's rows into dst.
func columnSums(dst []float64, m blas64.General) {
	clear(dst)
	for r := range m.Rows {
		for j, x := range m.Data[r*m.Stride:][:m.Cols] {
			dst[j] += x
		}
	}
}

// dense returns a matrix of zeros.
func dense(rows, cols int) blas64.General { return view(make([]float64, rows*cols), rows, cols) }

// view returns the first rows×cols entries of data as a row-major matrix.
func view(data []float64, rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
}
