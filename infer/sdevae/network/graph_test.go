package network

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/video"
)

// method is a variant of model and loss.
type method struct {
	Form
	Objective
}

// methods are the variants of the loss.
var methods = map[string]method{
	"plain":      {},
	"cholesky":   {Form: Form{Posterior: Cholesky, Latent: 3}},
	"isotropic":  {Form: Form{Diffusion: LearntIsotropic}},
	"diagonal":   {Form: Form{Diffusion: LearntDiagonal, Substeps: 3}},
	"clock":      {Form: Form{Clock: true}},
	"everything": {Form{Latent: 3, Posterior: Cholesky, Diffusion: LearntDiagonal, Substeps: 2, Clock: true}, Objective{L1: 0.7, Nu: 0.3}},
	"l1":         {Objective: Objective{L1: 2}},
}

// smallModel returns the paper's networks for 16×16 pictures and a graph for 3 pairs, filled with random numbers.
func smallModel(t *testing.T, channels int, c method) (*Model, *Graph, method) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	c.Latent, c.Pairs, c.Tau = max(c.Latent, 2), 3, 0.5
	c.Substeps, c.Posterior, c.Diffusion = max(c.Substeps, 1), cmp.Or(c.Posterior, Diagonal), cmp.Or(c.Diffusion, Profiled)
	m, err := New(dnnl.Shape{C: channels, H: 16, W: 16}, c.Form, 6, rng)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	for i := range m.Drift.Weights {
		m.Drift.Weights[i] += 0.1 * rng.NormFloat64()
	}
	m.Background = make([]float32, channels*16*16)
	for i := range m.Background {
		m.Background[i] = float32(rng.NormFloat64())
	}
	if c.Clock {
		m.Span = 0.2 // comparable to the time steps, so that sub-steps move the clock
	}
	for _, w := range [][]float32{m.BelowW, m.BelowB, m.MeanT, m.LogSDT, m.BelowT, m.LogSigma} {
		for i := range w {
			w[i] = float32(0.1 * rng.NormFloat64())
		}
	}
	g, err := NewGraph(m, c.Objective)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Machine.Close)
	fill := func(v []float32, draw func() float64) {
		for i := range v {
			v[i] = float32(draw())
		}
	}
	fill(g.X.Data().([]float32), rng.Float64)
	fill(g.Eps.Data().([]float32), rng.NormFloat64)
	fill(g.Dt.Data().([]float32), func() float64 { return 0.05 + 0.01*rng.Float64() })
	fill(g.Clock.Data().([]float32), func() float64 { return 2*rng.Float64() - 1 })
	fill(g.Weight.Data().([]float32), func() float64 { return 0.5 + rng.Float64() })
	fill(g.Gain.Data().([]float32), func() float64 { return 0.5 + rng.Float64() })
	return m, g, c
}

// TestGradient compares the gradient of the whole loss with central differences. The loss is a float32 of about 100, so differences with h = 3e-3 have an
// absolute rounding error of about 6e-8·loss/h ≈ 2e-3. Kinks of leaky ReLU and max pooling add a little.
func TestGradient(t *testing.T) {
	for name, c := range methods {
		t.Run(name, func(t *testing.T) {
			_, g, _ := smallModel(t, 1, c)
			checkGradient(t, &g.Machine, &g.Loss)
		})
	}
	t.Run("synthetic", func(t *testing.T) {
		m, _, _ := smallModel(t, 1, methods["everything"])
		d, err := NewSyntheticGraph(m, 6)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Machine.Close)
		rng := rand.New(rand.NewPCG(3, 3))
		for _, input := range []*tensor.Dense{d.X, d.Mean, d.LogDiag, d.Below, d.Clock, d.Weight} {
			for i := range input.Data().([]float32) {
				input.Data().([]float32)[i] = rng.Float32()
			}
		}
		checkGradient(t, &d.Machine, &d.Loss)
	})
}

// checkGradient compares every parameter's gradient with finite differences of the loss.
func checkGradient(t *testing.T, m *Machine, loss *gorgonia.Value) {
	value := func() float64 {
		if err := m.Run(); err != nil {
			t.Fatal(err)
		}
		return float64((*loss).Data().(float32))
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for i, p := range m.Params {
		value()
		lent, err := m.gradient(i)
		if err != nil {
			t.Fatal(err)
		}
		// A random direction sums over all entries, so that rounding averages out.
		direction, slope, norm := make([]float32, len(p.Weight)), 0.0, 0.0
		for j := range direction {
			direction[j] = float32(rng.NormFloat64())
			norm += float64(direction[j]) * float64(direction[j])
		}
		for j := range direction {
			direction[j] /= float32(math.Sqrt(norm))
			slope += float64(direction[j]) * float64(lent[j])
		}
		const h = 3e-3
		move := func(k float32) {
			for j := range p.Weight {
				p.Weight[j] += k * direction[j]
			}
		}
		move(h)
		up := value()
		move(-2 * h)
		down := value()
		move(h)
		if numeric := (up - down) / (2 * h); math.Abs(numeric-slope) > 0.02*math.Abs(numeric)+0.02 {
			t.Errorf("%s: gradient along a random direction is %.5f, differences give %.5f", p.node.Name(), slope, numeric)
		}
	}
}

// TestLossIsTheEquations computes the loss of infer/sdevae/train.go in plain Go in float64 and compares it with the graph's loss in float32.
func TestLossIsTheEquations(t *testing.T) {
	for name, c := range methods {
		t.Run(name, func(t *testing.T) {
			m, g, c := smallModel(t, 3, c)
			if err := g.Machine.Run(); err != nil {
				t.Fatal(err)
			}
			want := plainLoss(t, m, g, c)
			if got := float64(g.Loss.Data().(float32)); math.Abs(got-want) > 1e-4*math.Abs(want) {
				t.Errorf("the graph's loss is %.6f, the equations give %.6f", got, want)
			}
		})
	}
}

// plainLoss computes the loss of infer/sdevae/train.go for the graph's current inputs.
func plainLoss(t *testing.T, m *Model, g *Graph, c method) float64 {
	t.Helper()
	const n, pairs = 6, 3
	d, size, features, seed := m.Dim, m.Encoder.In().Size(), m.Encoder.Out().Size(), m.Decoder.In().Size()
	x, eps := g.X.Data().([]float32), g.Eps.Data().([]float32)
	h, p := make([]float32, n*features), NewPosteriors(n, d, m.Posterior)
	if err := m.Encoder.Forward(h, x, m.EncoderTheta, n); err != nil {
		t.Fatal(err)
	}
	numeric.Affine(p.Mean, h, m.MeanW, m.MeanB)
	numeric.Affine(p.LogDiag, h, m.LogSDW, m.LogSDB)
	if len(p.Below) > 0 {
		numeric.Affine(p.Below, h, m.BelowW, m.BelowB)
	}
	clock := g.Clock.Data().([]float32)
	for i, c := range clock {
		for k := range m.MeanT {
			p.Mean[i*d+k] += c * m.MeanT[k]
			p.LogDiag[i*d+k] += c * m.LogSDT[k]
		}
		for k := range m.BelowT {
			p.Below[i*CovarianceTerms(d)+k] += c * m.BelowT[k]
		}
	}
	z, root := make([]float32, n*d), make([]float64, d*d)
	for k := range n {
		p.Root(root, k)
		for i := range d {
			z[k*d+i] = p.Mean[k*d+i]
			for j := range d {
				z[k*d+i] += float32(root[i*d+j]) * eps[k*d+j]
			}
		}
	}
	s, y := make([]float32, n*seed), make([]float32, n*size)
	numeric.Affine(s, z, m.SeedW, m.SeedB)
	if err := m.Decoder.Forward(y, s, m.DecoderTheta, n); err != nil {
		t.Fatal(err)
	}
	for i, v := range y {
		y[i] = sigmoid(v + m.Background[i%size])
	}
	loss := numeric.SquaredError(x, y)/(2*c.Tau*n) - p.Entropy()
	dt, weight, gain := g.Dt.Data().([]float32), g.Weight.Data().([]float32), g.Gain.Data().([]float32)
	frames, list := make([]int, n), []video.Pair{}
	for k := range pairs { // the graph has all first frames, then all second frames
		frames[k], frames[pairs+k] = 2*k, 2*k+1
		list = append(list, video.Pair{First: 2 * k, DT: float64(dt[k])})
	}
	for i, q := range m.Profiled(p, clock, frames, list) {
		switch c.Diffusion {
		case Profiled:
			loss += 0.5 * q * float64(weight[i])
		default:
			logSigma := float64(m.LogSigma[min(i, len(m.LogSigma)-1)])
			loss += 0.5*q*math.Exp(-2*logSigma) + logSigma
		}
		var row float64
		for _, w := range m.SeedW[i*seed : (i+1)*seed] {
			row += float64(w) * float64(w)
		}
		loss += c.L1 * math.Sqrt(q*row) * float64(gain[i])
	}
	for i, v := range p.variances() {
		loss += c.Nu / (2 * n) * (v + float64(p.Mean[i])*float64(p.Mean[i]))
	}
	return loss
}
