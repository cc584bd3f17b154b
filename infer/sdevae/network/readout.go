package network

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/numeric"
)

// readout is the part of a feature map of h × w pixels that the encoder's last layers read: the map's moments, which are its products with orthonormal
// polynomials of the pixel position up to some degree. A whole map has 64 weights per latent and channel, and a thousand frames overfit many of them. But a
// coordinate is a smooth function of the position of its features, for which ten moments are enough.
type readout struct {
	area              int
	basis             *mat.Dense // terms × area
	part, small, near mat.Dense  // scratch of keep
}

// initialDegree is the degree for the initialisation, when less is known about the features.
const initialDegree = 1

func newReadout(maps dnnl.Shape, degree int) *readout {
	r := &readout{area: maps.H * maps.W}
	place := func(i, side int) float64 { return 2*(float64(i)+0.5)/float64(side) - 1 }
	var rows []float64
	for total := range degree + 1 {
		for a := range total + 1 {
			row := make([]float64, r.area)
			for i := range row {
				row[i] = math.Pow(place(i%maps.W, maps.W), float64(total-a)) * math.Pow(place(i/maps.W, maps.H), float64(a))
			}
			if orthonormal(row, rows) {
				rows = append(rows, row...)
			}
		}
	}
	r.basis = mat.NewDense(len(rows)/r.area, r.area, rows)
	return r
}

// orthonormal makes row orthogonal to the rows before it and scales it to length 1. It returns false if the row depends on the rows before it, as on maps with
// fewer pixels than polynomials.
func orthonormal(row, before []float64) bool {
	v := mat.NewVecDense(len(row), row)
	start := mat.Norm(v, 2)
	for range 2 { // one pass would leave rounding errors
		for at := 0; at < len(before); at += len(row) {
			u := mat.NewVecDense(len(row), before[at:at+len(row)])
			v.AddScaledVec(v, -mat.Dot(u, v), u)
		}
	}
	length := mat.Norm(v, 2)
	v.ScaleVec(1/length, v)
	return length > 1e-6*start
}

// terms returns the number of polynomials.
func (r *readout) terms() int { return r.basis.RawMatrix().Rows }

// moments returns the moments of features h, n × (channels · area), as n × (channels · terms).
func (r *readout) moments(h []float32, n int) *mat.Dense {
	maps := mat.NewDense(len(h)/r.area, r.area, numeric.Float64s(h))
	var out mat.Dense
	out.Mul(maps, r.basis.T())
	return mat.NewDense(n, len(h)/r.area/n*r.terms(), out.RawMatrix().Data)
}

// spread returns the layer on features, (channels · area) × d, that is equivalent to layer w on moments.
func (r *readout) spread(w *mat.Dense) *mat.Dense {
	rows, d := w.Dims()
	channels := rows / r.terms()
	out := mat.NewDense(channels*r.area, d, nil)
	for c := range channels {
		out.Slice(c*r.area, (c+1)*r.area, 0, d).(*mat.Dense).Mul(r.basis.T(), w.Slice(c*r.terms(), (c+1)*r.terms(), 0, d))
	}
	return out
}

// keep replaces a layer on features, (channels · area) × d, by the nearest layer that depends only on moments. It is not safe for concurrent use.
func (r *readout) keep(w []float32, d int) {
	if len(w) == 0 {
		return
	}
	for _, m := range []*mat.Dense{&r.part, &r.small, &r.near} { // layers differ in d; Reset keeps the memory
		m.Reset()
	}
	r.part.ReuseAs(r.area, d)
	for at := 0; at < len(w); at += r.area * d {
		channel := w[at : at+r.area*d]
		numeric.Copy(r.part.RawMatrix().Data, channel)
		r.small.Mul(r.basis, &r.part)
		r.near.Mul(r.basis.T(), &r.small)
		for i, v := range r.near.RawMatrix().Data {
			channel[i] = float32(v)
		}
	}
}

// ifKept returns r if layer w depends only on moments, up to rounding, and otherwise nil.
func (r *readout) ifKept(w []float32, d int) *readout {
	kept := slices.Clone(w)
	r.keep(kept, d)
	if numeric.SquaredError(w, kept) > 1e-6*numeric.SquaredError(w, make([]float32, 1)) {
		return nil
	}
	return r
}

// SeeMoments restricts the encoder's last layers to moments of the feature maps.
func (m *Model) SeeMoments() {
	m.readout = newReadout(m.Encoder.Out(), numeric.Degree) // case network.moments: the encoder's last layers see only moments of the feature maps, in every other restart and at low SNR
}

// SeeMomentsIfKept restricts the layers in this way if the means' layer already depends only on moments, as in a model that was trained with it.
func (m *Model) SeeMomentsIfKept() {
	m.readout = newReadout(m.Encoder.Out(), numeric.Degree).ifKept(m.MeanW, m.Dim)
}

// SeesMoments reports whether the encoder's last layers read only moments.
func (m *Model) SeesMoments() bool { return m.readout != nil }

// Constrain projects the encoder's last layers onto the readout.
func (m *Model) Constrain() {
	if m.readout == nil {
		return
	}
	m.readout.keep(m.MeanW, m.Dim)
	m.readout.keep(m.LogSDW, m.Dim)
	m.readout.keep(m.BelowW, CovarianceTerms(m.Dim))
}
