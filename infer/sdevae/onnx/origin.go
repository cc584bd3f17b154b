package onnx

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// Origin is the content of a model file to continue.
type Origin struct {
	Card             card.Card
	Digest           []byte
	encoder, decoder map[string]card.Tensor
}

// ReadOrigin reads a model file that pretrain wrote.
func ReadOrigin(f *card.File) (*Origin, error) {
	if f.Decoder == nil {
		return nil, errors.New("the model to continue has no decoder: give a model that pretrain wrote")
	}
	sum := sha256.Sum256(f.Encoder)
	o := &Origin{Card: f.Card, Digest: sum[:]}
	var err error
	if o.encoder, err = card.Tensors(f.Encoder); err == nil {
		o.decoder, err = card.Tensors(f.Decoder)
	}
	return o, err
}

func (o *Origin) holds(constant string) bool {
	_, ok := o.encoder[constant]
	return ok
}

// bent reports whether the file has a polynomial that straightens the latents.
func (o *Origin) bent() bool { return o.holds("s.weight") }

// HasCovariances reports whether the posterior has covariances.
func (o *Origin) HasCovariances() bool { return o.holds("below_root.weight") }

// terms returns the number of monomials in the file's polynomial, without the constant.
func (o *Origin) terms() int {
	if shape := o.encoder["mean.weight"].Shape; len(shape) == 2 {
		return shape[1]
	}
	return 0
}

// Restore fills a new model with the file's weights. Its latents are the encoder's latents before the gauge, except that their mean becomes zero. Its drift
// stays zero. In the file, batch normalisation is folded into the convolutions, so Restore makes it the identity: its moments are measured on the given frames,
// and its scale and shift reverse them.
func (o *Origin) Restore(m *network.Model, clip *video.Clip, frames []int) error {
	to, err := o.affineMap()
	if err != nil {
		return err
	}
	var from mat.Dense
	if err := from.Inverse(to); err != nil {
		return fmt.Errorf("the model to continue: the map of its latents has no inverse: %w", err)
	}
	d, features, seed := m.Dim, m.Encoder.Out().Size(), m.Decoder.In().Size()
	if o.Card.Clock > 0 { // the clock in seconds follows the features
		features++
	}
	e := &constants{tensors: o.encoder}
	e.stack("encoder", m.Encoder, m.EncoderTheta)
	w, b := e.gemm(map[bool]string{true: "s", false: "mean"}[o.bent()], features, d)
	m.MeanW, m.MeanB = m.FromSeconds(product(numeric.Float64s(w), features, &from), product(numeric.Float64s(b), 1, &from), m.MeanT)
	if o.HasCovariances() {
		w, b = e.gemm("log_diagonal", features, d)
		m.LogSDW, m.LogSDB = m.FromSeconds(w, b, m.LogSDT)
		w, b = e.gemm("below_root", features, d*d)
		m.BelowW, m.BelowB = m.FromSeconds(underDiagonal(w, d), underDiagonal(b, d), m.BelowT)
	} else {
		w, b = e.gemm("log_variance", features, d)
		m.LogSDW, m.LogSDB = m.FromSeconds(numeric.Scaled(w, 0.5), numeric.Scaled(b, 0.5), m.LogSDT)
	}

	g := &constants{tensors: o.decoder}
	w, m.SeedB = g.gemm("seed", d, seed)
	var mapped mat.Dense
	mapped.Mul(to, mat.NewDense(d, seed, numeric.Float64s(w)))
	m.SeedW = numeric.Float32s(mapped.RawMatrix().Data)
	g.stack("decoder", m.Decoder, m.DecoderTheta)
	m.Background = g.get("background", 1, clip.Channels, clip.Height, clip.Width)
	if err := errors.Join(e.err, g.err); err != nil {
		return fmt.Errorf("pretrain did not write the model to continue: %w", err)
	}
	m.SeeMomentsIfKept()
	return unfold(m, clip, frames)
}

// affineMap returns the d × d matrix of the file's gauge. The encoder's latents times this matrix are z, or s if the gauge is bent.
func (o *Origin) affineMap() (*mat.Dense, error) {
	d := o.Card.Latent
	e := &constants{tensors: o.encoder}
	to := mat.NewDense(d, d, nil)
	switch {
	case o.bent(): // ∂z/∂m at s = 0 is to times the bend's linear part
		slopes := e.get("slopes.bias", d*d)
		w, _ := e.gemm("mean", o.terms(), d)
		var linear mat.Dense
		if err := linear.Inverse(mat.NewDense(d, d, numeric.Float64s(w[:d*d]))); err != nil && e.err == nil {
			return nil, fmt.Errorf("the bend of the continued model's latents cannot be inverted: %w", err)
		}
		to.Mul(mat.NewDense(d, d, numeric.Float64s(slopes)), &linear)
	case o.HasCovariances(): // M = to' L, stored as a matrix that maps all entries of L to all entries of M
		w, _ := e.gemm("mapped_root", d*d, d*d)
		for i := range d {
			for j := range d {
				to.Set(j, i, float64(w[j*d*d*d+i*d]))
			}
		}
	default:
		w, _ := e.gemm("mapped_variance", d, d)
		var err error
		if to, err = rootOf(numeric.Float64s(w), d); err != nil && e.err == nil {
			return nil, err
		}
	}
	if e.err != nil {
		return nil, fmt.Errorf("pretrain did not write the model to continue: %w", e.err)
	}
	return to, nil
}

// rootOf finds a symmetric, positive definite matrix whose entries have these squares. The file does not contain the signs off the diagonal, and its results do
// not depend on them.
func rootOf(squared []float64, d int) (*mat.Dense, error) {
	const worst = 1e5 // largest condition number for float32
	rng := rand.New(rand.NewPCG(1, 0))
	root := mat.NewSymDense(d, nil)
	for try := range 1000 {
		for i := range d {
			for j := i; j < d; j++ {
				v := math.Sqrt(squared[i*d+j])
				if try > 0 && i != j && rng.IntN(2) == 1 {
					v = -v
				}
				root.SetSym(i, j, v)
			}
		}
		var c mat.Cholesky
		if c.Factorize(root) && c.Cond() < worst {
			return mat.DenseCopyOf(root), nil
		}
	}
	return nil, errors.New("the model to continue: the map of its latents has no inverse: train a new model instead")
}

// unfold makes every batch normalisation the identity over the given frames. It goes layer by layer, because a layer's moments depend on the layers before it.
func unfold(m *network.Model, clip *video.Clip, frames []int) error {
	for _, trunk := range []struct {
		stack *dnnl.Stack
		theta []float32
		stats *[]dnnl.Moments
	}{{m.Encoder, m.EncoderTheta, &m.EncoderStats}, {m.Decoder, m.DecoderTheta, &m.DecoderStats}} {
		l := 0
		for _, g := range trunk.stack.Segments() {
			if g.Name != "gamma" {
				continue
			}
			if err := m.Calibrate(clip, frames); err != nil {
				return err
			}
			gamma, beta := trunk.theta[g.Offset:][:g.Len], trunk.theta[g.Offset+g.Len:][:g.Len] // beta follows gamma
			for c := range gamma {
				gamma[c] = float32(math.Sqrt(float64((*trunk.stats)[l].Var[c]) + network.NormEpsilon))
				beta[c] = (*trunk.stats)[l].Mean[c]
			}
			l++
		}
	}
	return m.Calibrate(clip, frames)
}

// constants looks up a graph's tensors by name. For a tensor that is missing, not finite or of the wrong shape it returns zeros, and it records the first such
// error.
type constants struct {
	tensors map[string]card.Tensor
	err     error
}

func (c *constants) get(name string, shape ...int) []float32 {
	n := 1
	for _, s := range shape {
		n *= s
	}
	t, ok := c.tensors[name]
	finite := !slices.ContainsFunc(t.Data, func(v float32) bool { return math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) })
	switch {
	case ok && finite && slices.Equal(t.Shape, shape):
		return slices.Clone(t.Data)
	case c.err != nil:
	case !finite:
		c.err = fmt.Errorf("its constant %q has a number that is not finite", name)
	case !ok:
		c.err = fmt.Errorf("it has no constant %q", name)
	default:
		c.err = fmt.Errorf("its constant %q has the shape %v, expected %v", name, t.Shape, shape)
	}
	return make([]float32, n)
}

// gemm returns W, in × out row-major, and b of x W + b, as tensors.gemm wrote it.
func (c *constants) gemm(name string, in, out int) (w, b []float32) {
	flipped := c.get(name+".weight", out, in)
	w = make([]float32, in*out)
	for i := range in {
		for j := range out {
			w[i*out+j] = flipped[j*in+i]
		}
	}
	return w, c.get(name+".bias", out)
}

// stack copies a trunk's convolutions to theta.
func (c *constants) stack(name string, s *dnnl.Stack, theta []float32) {
	for _, g := range s.Segments() {
		if g.Name == "weight" || g.Name == "bias" {
			copy(theta[g.Offset:][:g.Len], c.get(name+"."+strconv.Itoa(g.Layer)+"."+g.Name, g.Shape...))
		}
	}
}

// underDiagonal extracts the entries below the diagonal of each d × d matrix in rows, row by row.
func underDiagonal(rows []float32, d int) []float32 {
	at := belowDiagonal(d)
	var out []float32
	for k := 0; k < len(rows); k += d * d {
		for i := range network.CovarianceTerms(d) {
			out = append(out, rows[k+at(i)])
		}
	}
	return out
}
