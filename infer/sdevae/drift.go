package sdevae

import (
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/card"
	"driftscope/online"
)

// DriftOf is the drift network that a card carries, nil where it has none.
func DriftOf(c *card.Card) *online.Network {
	if c.Drift == nil {
		return nil
	}
	return &online.Network{Dim: c.Latent, Hidden: c.Drift.Hidden, Centre: c.Drift.Centre, Scale: c.Drift.Scale, Weights: c.Drift.Weights}
}

// drift gives the network in the frame of reference, exactly: μ_z(z) = μ_m(z Back + mean) Map. The change of coordinates goes
// into the first layer and the skip, the map into the output layer; Centre becomes 0 and Scale 1.
func (r *reference) drift(n *online.Network) *online.Network {
	d := n.Dim
	out := &online.Network{Dim: d, Hidden: n.Hidden, Centre: make([]float64, d), Scale: 1, Weights: append([]float64(nil), n.Weights...)}
	shift := mat.NewDense(1, d, nil) // (mean - Centre)/Scale
	for i := range d {
		shift.Set(0, i, (r.mean[i]-n.Centre[i])/n.Scale)
	}
	enter := func(w *mat.Dense) (moved, offset *mat.Dense) {
		moved, offset = new(mat.Dense), new(mat.Dense)
		moved.Mul(r.back, w)
		moved.Scale(1/n.Scale, moved)
		offset.Mul(shift, w)
		return moved, offset
	}
	width, last := n.Hidden[0], n.Hidden[len(n.Hidden)-1]
	w := out.Weights

	first, offset := enter(mat.NewDense(d, width, w[:d*width]))
	bias := mat.NewDense(1, width, w[d*width:d*width+width])
	offset.Add(offset, bias)

	skipAt := len(w) - d*d
	biasAt := skipAt - d
	outAt := biasAt - last*d
	skip, skipOffset := enter(mat.NewDense(d, d, w[skipAt:]))
	skipOffset.Add(skipOffset, mat.NewDense(1, d, w[biasAt:skipAt]))
	var skipMapped, biasMapped, outMapped mat.Dense
	skipMapped.Mul(skip, r.to)
	biasMapped.Mul(skipOffset, r.to)
	outMapped.Mul(mat.NewDense(last, d, w[outAt:biasAt]), r.to)

	copy(w, first.RawMatrix().Data)
	copy(w[d*width:], offset.RawMatrix().Data)
	copy(w[outAt:], outMapped.RawMatrix().Data)
	copy(w[biasAt:], biasMapped.RawMatrix().Data)
	copy(w[skipAt:], skipMapped.RawMatrix().Data)
	return out
}
