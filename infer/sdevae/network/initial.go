package network

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// InitSlow sets the means' layer to the slowest independent components of the features' moments (TICA, Molgedey and Schuster 1994). With C₀ the moments'
// covariance and C₁ their covariance at a lag of one frame, these are the w with the largest λ in
//
//	C₁ w = λ (C₀ + ridge) w
//
// The coordinates of a diffusion are the slowest parts of its pictures, because noise does not persist and nonlinear functions of the coordinates decay sooner.
// Anything constant over a trajectory, such as its light, is slower still and is removed. lasts is the sum of the components' held-out correlations over one
// frame.
func (m *Model) InitSlow(c *video.Clip, pairs []video.Pair) (lasts float64, err error) {
	frames := video.FramesOf(pairs)
	h, err := m.features(c, frames)
	if err != nil {
		return 0, err
	}
	see := newReadout(m.Encoder.Out(), initialDegree)
	moments := see.moments(h, len(frames))
	centre := numeric.Centre(moments)
	c.RemoveTrajectoryMeans(moments, frames)
	w, lasts, err := numeric.SlowComponents(moments, video.RowsOf(frames, pairs), m.Dim)
	if err != nil {
		return 0, err
	}
	m.setMeans(see.spread(w), centre, w)
	m.Constrain()
	return lasts, nil
}

// InitPrincipal sets the means' layer to the features' principal components. They suit short clips with motions of less than a pixel, which moments hardly
// resolve and whose slowness is hard to measure.
func (m *Model) InitPrincipal(c *video.Clip, pairs []video.Pair) error {
	frames := numeric.Spread(video.FramesOf(pairs), m.Encoder.Batch())
	n, features := len(frames), m.Encoder.Out().Size()
	h, err := m.features(c, frames)
	if err != nil {
		return err
	}
	x := mat.NewDense(n, features, numeric.Float64s(h))
	centre := numeric.Centre(x)
	values, vectors, ok := numeric.PrincipalRows(x)
	if !ok {
		return errors.New("the initial features have no principal components, because they are not finite: check the clip")
	}
	top := mat.NewDense(n, m.Dim, nil)
	for k := range m.Dim {
		j := n - 1 - k%n
		top.SetCol(k, mat.Col(nil, j, vectors))
		numeric.ScaleColumn(top, k, math.Sqrt(float64(n))/max(values[j], 1e-12))
	}
	var w mat.Dense
	w.Mul(x.T(), top)
	m.setMeans(&w, centre, &w)
	return nil
}

// setMeans sets the means' layer, in place, to w (features × d), with the bias that centres its output. centre is the mean of the layer's inputs, and seen the
// same layer on these inputs.
func (m *Model) setMeans(w *mat.Dense, centre *mat.VecDense, seen *mat.Dense) {
	var offset mat.Dense
	offset.Mul(centre.T(), seen)
	offset.Scale(-1, &offset)
	copy(m.MeanW, numeric.Float32s(w.RawMatrix().Data))
	copy(m.MeanB, numeric.Float32s(offset.RawMatrix().Data))
}

// features returns the encoder's features of the given frames, n × features, normalised over all of them.
func (m *Model) features(c *video.Clip, frames []int) ([]float32, error) {
	if err := m.Calibrate(c, numeric.Spread(frames, m.Encoder.Batch())); err != nil {
		return nil, err
	}
	size, width, batch := c.Size(), m.Encoder.Out().Size(), m.Encoder.Batch()
	x, h := make([]float32, batch*size), make([]float32, len(frames)*width)
	for at := 0; at < len(frames); at += batch {
		k := min(batch, len(frames)-at)
		for i, f := range frames[at : at+k] {
			copy(x[i*size:], c.Frame(f))
		}
		if err := m.Encoder.Infer(h[at*width:(at+k)*width], x, m.EncoderTheta, m.EncoderStats, k); err != nil {
			return nil, err
		}
	}
	return h, nil
}
