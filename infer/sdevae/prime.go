package sdevae

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// prime sets the encoder's last layer to the principal components of the features that the first, random convolutions give on
// these frames, each scaled to variance 1. A random layer folds the picture's motion over itself, and unfolding it takes
// hundreds of steps; the components start as coarse coordinates of what moves. The sampling noise starts at sd 1 too, which
// keeps short clips from being learnt by heart.
func (m *Model) prime(c *Clip, frames []int) error {
	n, size, features := len(frames), c.Size(), m.Encoder.Out().Size()
	x, h := make([]float32, n*size), make([]float32, n*features)
	for i, f := range frames {
		copy(x[i*size:], c.Frame(f))
	}
	if err := m.Encoder.Forward(h, x, m.EncoderTheta, n); err != nil {
		return err
	}
	mean, centred := centred(h, n, features)
	var gram mat.SymDense
	gram.SymOuterK(1, centred)
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return errors.New("the first features have no principal components: they are not finite")
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for k := range m.Dim {
		j := n - 1 - k%n // eigenvalues ascend
		var axis mat.VecDense
		axis.MulVec(centred.T(), vectors.ColView(j))
		scale := math.Sqrt(float64(n)) / max(values[j], 1e-12)
		var offset float64
		for i := range features {
			w := scale * axis.AtVec(i)
			m.MeanW[i*m.Dim+k] = float32(w)
			offset += w * mean[i]
		}
		m.MeanB[k] = float32(-offset)
	}
	return nil
}

// centred gives the column means of the n × width matrix in h, and the matrix less them.
func centred(h []float32, n, width int) ([]float64, *mat.Dense) {
	mean := columnMeans(h, width)
	out := mat.NewDense(n, width, wide(h))
	for i := range n {
		row := out.RawRowView(i)
		for j := range row {
			row[j] -= mean[j]
		}
	}
	return mean, out
}
