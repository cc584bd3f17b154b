package onnx

import (
	"math"
	"strconv"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
)

// tensors collects the nodes and constants of a graph. It folds batch normalisation into the convolution before it, which is exact in evaluation mode.
type tensors struct {
	graph card.Graph
	last  string // name of the value that the next node reads
}

func (t *tensors) constant(name string, data []float32, shape ...int) string {
	t.graph.Tensors = append(t.graph.Tensors, card.Tensor{Name: name, Shape: shape, Data: data})
	return name
}

// node appends an operator that reads the last value and then the given inputs. out becomes the last value.
func (t *tensors) node(op, out string, inputs []string, attrs ...card.Attr) {
	t.graph.Nodes = append(t.graph.Nodes, card.Node{Op: op, Inputs: append([]string{t.last}, inputs...), Outputs: []string{out}, Attrs: attrs})
	t.last = out
}

// gemm appends last·W + b, where W is in × out, row-major. The file has W transposed, the only form that OpenCV 4.6 reads.
func (t *tensors) gemm(out string, w, b []float32, in, width int) {
	flipped := make([]float32, len(w))
	for i := range in {
		for j := range width {
			flipped[j*in+i] = w[i*width+j]
		}
	}
	t.node("Gemm", out, []string{t.constant(out+".weight", flipped, width, in), t.constant(out+".bias", b, width)},
		card.Attr{Name: "transB", Value: 1})
}

// stack appends a trunk's layers.
func (t *tensors) stack(name string, s *dnnl.Stack, layers []dnnl.Layer, theta []float32, stats []dnnl.Moments) {
	segments := map[[2]any][]float32{}
	shapes := map[int][]int{}
	for _, g := range s.Segments() {
		segments[[2]any{g.Layer, g.Name}] = theta[g.Offset : g.Offset+g.Len]
		if g.Name == "weight" {
			shapes[g.Layer] = g.Shape
		}
	}
	norms := 0
	for i, l := range layers {
		out := name + "." + strconv.Itoa(i)
		switch l.Kind {
		case dnnl.Conv:
			weight, bias := segments[[2]any{i, "weight"}], segments[[2]any{i, "bias"}]
			if i+1 < len(layers) && layers[i+1].Kind == dnnl.BatchNorm {
				weight, bias = fold(weight, bias, segments[[2]any{i + 1, "gamma"}], segments[[2]any{i + 1, "beta"}], stats[norms])
				norms++
			}
			pad := l.Kernel / 2
			t.node("Conv", out, []string{t.constant(out+".weight", weight, shapes[i]...), t.constant(out+".bias", bias, l.Out)},
				card.Attr{Name: "kernel_shape", Value: []int{l.Kernel, l.Kernel}}, card.Attr{Name: "pads", Value: []int{pad, pad, pad, pad}},
				card.Attr{Name: "strides", Value: []int{1, 1}})
		case dnnl.LeakyReLU:
			t.node("LeakyRelu", out, nil, card.Attr{Name: "alpha", Value: float32(network.LeakySlope)})
		case dnnl.MaxPool:
			t.node("MaxPool", out, nil, card.Attr{Name: "kernel_shape", Value: []int{2, 2}}, card.Attr{Name: "strides", Value: []int{2, 2}})
		case dnnl.Upsample:
			t.node("Resize", out, []string{t.constant(out+".roi", nil, 0), t.constant(out+".scales", []float32{1, 1, 2, 2}, 4)},
				card.Attr{Name: "mode", Value: "nearest"}, card.Attr{Name: "coordinate_transformation_mode", Value: "asymmetric"},
				card.Attr{Name: "nearest_mode", Value: "floor"})
		case dnnl.Sigmoid:
			t.node("Sigmoid", out, nil)
		}
	}
}

// fold merges y = γ (conv(x) - mean)/√(var + ε) + β into the convolution's weight (O × rest) and bias.
func fold(weight, bias, gamma, beta []float32, s dnnl.Moments) (w, b []float32) {
	w, b = make([]float32, len(weight)), make([]float32, len(bias))
	rest := len(weight) / len(bias)
	for o := range bias {
		k := float64(gamma[o]) / math.Sqrt(float64(s.Var[o])+network.NormEpsilon)
		for j := range rest {
			w[o*rest+j] = float32(float64(weight[o*rest+j]) * k)
		}
		b[o] = float32((float64(bias[o])-float64(s.Mean[o]))*k + float64(beta[o]))
	}
	return w, b
}

// monomials appends the monomials of the last value, without the constant. Each is the product of a monomial of one degree less and a variable. A Gemm of zeros
// and ones selects both factors.
func (t *tensors) monomials(out string, b numeric.Basis) {
	s, lower, at := t.last, b.OfDegree(1), 1
	d := len(lower)
	var higher []string
	for degree := 2; degree <= b.Degree(); degree++ {
		terms := b.OfDegree(degree)
		n, name := len(terms), out+"."+strconv.Itoa(degree)
		rest, factor := make([]float32, len(lower)*n), make([]float32, d*n)
		for k, term := range terms {
			rest[(b.Index(term[:degree-1])-at)*n+k] = 1
			factor[term[degree-1]*n+k] = 1
		}
		t.gemm(name+".rest", rest, make([]float32, n), len(lower), n)
		t.last = s
		t.gemm(name+".factor", factor, make([]float32, n), d, n)
		t.node("Mul", name, []string{name + ".rest"})
		higher = append(higher, name)
		lower, at = terms, at+len(lower)
	}
	t.last = s
	t.node("Concat", out, higher, card.Attr{Name: "axis", Value: 1})
}

// polynomial appends the polynomial p. The last value must be its monomials.
func (t *tensors) polynomial(out string, p *numeric.Polynomial) {
	terms, width := p.Weights.Dims()
	w := numeric.Float32s(p.Weights.RawMatrix().Data)
	t.gemm(out, w[width:], w[:width], terms-1, width)
}

// carry appends Σₗ slopesₗᵢ² vₗ, where v is the last value and slopes is d × d, row by row.
func (t *tensors) carry(out, slopes string, d int) {
	repeat, sum := make([]float32, d*d*d), make([]float32, d*d*d)
	for l := range d {
		for i := range d {
			repeat[l*d*d+l*d+i], sum[(l*d+i)*d+i] = 1, 1
		}
	}
	t.gemm(out+".repeated", repeat, make([]float32, d*d), d, d*d)
	t.node("Mul", out+".once", []string{slopes})
	t.node("Mul", out+".twice", []string{slopes})
	t.gemm(out, sum, make([]float32, d), d*d, d)
}

// diagonalVariance appends var z for posteriors with diagonal covariance. The last value must be the features.
func diagonalVariance(m *network.Model, t *tensors, ref *gauge.Map) {
	d := m.Dim
	w, b := m.InSeconds(m.LogSDW, m.LogSDB, m.LogSDT)
	t.gemm("log_variance", numeric.Scaled(w, 2), numeric.Scaled(b, 2), len(w)/d, d) // ln s² = 2 ln s
	t.node("Exp", "variance", nil)
	if ref.Bend == nil {
		t.gemm("mapped_variance", squared(ref), make([]float32, d), d, d)
	} else {
		t.carry("mapped_variance", "slopes", d)
	}
}

// fullVariance appends var z = diag(M M'), M = J L, for posteriors with covariance L L'. The last value must be the features.
func fullVariance(m *network.Model, t *tensors, ref *gauge.Map) {
	d := m.Dim
	w, b := m.InSeconds(m.LogSDW, m.LogSDB, m.LogSDT)
	t.gemm("log_diagonal", w, b, len(w)/d, d)
	t.node("Exp", "diagonal", nil)
	t.gemm("diagonal_root", placed(d, d*d, func(i int) int { return i*d + i }), make([]float32, d*d), d, d*d)
	t.last = "features"
	under, rows := placed(network.CovarianceTerms(d), d*d, belowDiagonal(d)), len(w)/d
	w, b = m.InSeconds(m.BelowW, m.BelowB, m.BelowT)
	t.gemm("below_root", narrowProduct(w, under, rows, network.CovarianceTerms(d), d*d), narrowProduct(b, under, 1, network.CovarianceTerms(d), d*d), rows, d*d)
	t.node("Add", "root", []string{"diagonal_root"})
	if ref.Bend == nil {
		t.gemm("mapped_root", applied(ref), make([]float32, d*d), d*d, d*d)
	} else {
		t.rootThrough("mapped_root", "slopes", d)
	}
	t.node("Mul", "square", []string{t.last})
	t.gemm("mapped_variance", placed(d*d, d, func(k int) int { return k / d }), make([]float32, d), d*d, d)
}

// placed returns the in × out matrix that moves entry k to entry at(k).
func placed(in, out int, at func(k int) int) []float32 {
	w := make([]float32, in*out)
	for k := range in {
		w[k*out+at(k)] = 1
	}
	return w
}

// belowDiagonal returns a function that maps k to the index of the k-th entry below the diagonal of a d × d matrix, row by row.
func belowDiagonal(d int) func(k int) int {
	var at []int
	for i := range d {
		for j := range i {
			at = append(at, i*d+j)
		}
	}
	return func(k int) int { return at[k] }
}

// rootThrough appends M_il = Σⱼ slopesⱼᵢ L_jl, where L is the last value. slopes and L are d × d, row by row.
func (t *tensors) rootThrough(out, slopes string, d int) {
	n, l := d*d*d, t.last
	left, right, sum := make([]float32, d*d*n), make([]float32, d*d*n), make([]float32, n*d*d)
	for i := range d {
		for j := range d {
			for k := range d {
				at := (i*d+j)*d + k
				left[(j*d+i)*n+at], right[(j*d+k)*n+at], sum[at*d*d+i*d+k] = 1, 1, 1
			}
		}
	}
	t.last = slopes
	t.gemm(out+".slopes", left, make([]float32, n), d*d, n)
	t.last = l
	t.gemm(out+".roots", right, make([]float32, n), d*d, n)
	t.node("Mul", out+".products", []string{out + ".slopes"})
	t.gemm(out, sum, make([]float32, d*d), n, d*d)
}

// Encoder returns the graph x → mean, log_sd in the gauge's coordinates. The affine map is folded into the last layer, and variances become diag(To' S To). If
// the gauge has a polynomial, it follows, and its slopes transform the variances. With a clock, the seconds t are appended to the features.
func Encoder(m *network.Model, ref *gauge.Map) *card.Graph {
	in, d := m.Encoder.In(), m.Dim
	t := &tensors{last: "x", graph: card.Graph{Name: "encoder",
		Inputs:  []card.Value{{Name: "x", Shape: []int{1, in.C, in.H, in.W}}},
		Outputs: []card.Value{{Name: "mean", Shape: []int{1, d}}, {Name: "log_sd", Shape: []int{1, d}}}}}
	t.stack("encoder", m.Encoder, network.EncoderLayers(), m.EncoderTheta, m.EncoderStats)
	axis := card.Attr{Name: "axis", Value: 1}
	if m.Span > 0 {
		t.graph.Inputs = append(t.graph.Inputs, card.Value{Name: "t", Shape: []int{1, 1}})
		t.node("Flatten", "seen", nil, axis)
		t.node("Concat", "features", []string{"t"}, axis)
	} else {
		t.node("Flatten", "features", nil, axis)
	}
	w, b := m.InSeconds(m.MeanW, m.MeanB, m.MeanT)
	features := len(w) / d
	w, b = head(ref, w, b, features)
	if ref.Bend == nil {
		t.gemm("mean", w, b, features, d)
	} else {
		t.gemm("s", w, b, features, d)
		t.monomials("monomials", ref.Bend.Basis)
		t.polynomial("mean", ref.Bend)
		t.last = "monomials"
		t.polynomial("slopes", ref.Jacobian())
	}

	t.last = "features"
	if m.Posterior == network.Cholesky && d > 1 {
		fullVariance(m, t, ref)
	} else {
		diagonalVariance(m, t, ref)
	}
	t.node("Log", "log_mapped", nil)
	t.node("Mul", "log_sd", []string{t.constant("half", numeric.Filled(0.5, d), 1, d)})
	return &t.graph
}

// Decoder returns the graph z → x from the gauge's coordinates.
func Decoder(m *network.Model, ref *gauge.Map) *card.Graph {
	in, out, d := m.Decoder.In(), m.Decoder.Out(), m.Dim
	seed := in.Size()
	t := &tensors{last: "z", graph: card.Graph{Name: "decoder",
		Inputs:  []card.Value{{Name: "z", Shape: []int{1, d}}},
		Outputs: []card.Value{{Name: "x", Shape: []int{1, out.C, out.H, out.W}}}}}
	if ref.Unbend != nil {
		t.monomials("monomials", ref.Unbend.Basis)
		t.polynomial("s", ref.Unbend)
	}
	w, b := tail(ref, m.SeedW, m.SeedB, seed)
	t.gemm("seed", w, b, d, seed)
	t.node("Reshape", "unflat", []string{"unflat.shape"})
	t.graph.Ints = append(t.graph.Ints, card.IntTensor{Name: "unflat.shape", Data: []int{1, in.C, in.H, in.W}})
	layers := network.DecoderLayers(out.C)
	t.stack("decoder", m.Decoder, layers, m.DecoderTheta, m.DecoderStats)
	t.node("Add", "logit", []string{t.constant("background", m.Background, 1, out.C, out.H, out.W)})
	t.node("Sigmoid", "x", nil)
	return &t.graph
}
