package sdevae

import (
	"math"
	"math/rand/v2"
	"testing"

	"driftscope/infer/sdevae/dnnl"
)

// smallModel is the paper's networks on 16×16 pictures with a graph for 3 pairs, filled with random numbers.
func smallModel(t *testing.T, channels int) (*Model, *graph) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 1))
	m, err := newModel(dnnl.Shape{C: channels, H: 16, W: 16}, 2, 6, rng)
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
	g, err := newGraph(m, 3, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.close)
	fill := func(v []float32, draw func() float64) {
		for i := range v {
			v[i] = float32(draw())
		}
	}
	fill(g.x.Data().([]float32), rng.Float64)
	fill(g.eps.Data().([]float32), rng.NormFloat64)
	fill(g.dt.Data().([]float32), func() float64 { return 0.05 + 0.01*rng.Float64() })
	fill(g.weight.Data().([]float32), func() float64 { return 0.5 + rng.Float64() })
	return m, g
}

// TestGradient compares the gradient of the whole loss with central differences. The loss is float32, about 100: a difference of
// h = 3e-3 carries a rounding error of about 6e-8·loss/h ≈ 2e-3 absolutely, and kinks of leaky ReLU and max pooling add a little.
func TestGradient(t *testing.T) {
	_, g := smallModel(t, 1)
	if err := g.run(); err != nil {
		t.Fatal(err)
	}
	value := func() float64 {
		if err := g.run(); err != nil {
			t.Fatal(err)
		}
		return float64(g.loss.Data().(float32))
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for i, p := range g.params {
		if err := g.run(); err != nil {
			t.Fatal(err)
		}
		lent, err := g.gradient(i)
		if err != nil {
			t.Fatal(err)
		}
		// A random direction sums over all entries, so that rounding averages out.
		direction, slope, norm := make([]float32, len(p.weight)), 0.0, 0.0
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
			for j := range p.weight {
				p.weight[j] += k * direction[j]
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

// TestLossIsTheEquations computes the loss of doc.go in plain Go and compares it with the graph's, float32 against float64.
func TestLossIsTheEquations(t *testing.T) {
	m, g := smallModel(t, 3)
	if err := g.run(); err != nil {
		t.Fatal(err)
	}
	const n, pairs, d, tau = 6, 3, 2, 0.5
	size, features, seed := m.Encoder.In().Size(), m.Encoder.Out().Size(), m.Decoder.In().Size()
	x, eps := g.x.Data().([]float32), g.eps.Data().([]float32)
	h, mean, logSD, z := make([]float32, n*features), make([]float32, n*d), make([]float32, n*d), make([]float32, n*d)
	if err := m.Encoder.Forward(h, x, m.EncoderTheta, n); err != nil {
		t.Fatal(err)
	}
	affine(mean, h, m.MeanW, m.MeanB, n, features, d)
	affine(logSD, h, m.LogSDW, m.LogSDB, n, features, d)
	sd := make([]float32, n*d)
	for i := range z {
		sd[i] = float32(math.Exp(float64(logSD[i])))
		z[i] = mean[i] + sd[i]*eps[i]
	}
	s, y := make([]float32, n*seed), make([]float32, n*size)
	affine(s, z, m.SeedW, m.SeedB, n, d, seed)
	if err := m.Decoder.Forward(y, s, m.DecoderTheta, n); err != nil {
		t.Fatal(err)
	}
	for i, v := range y {
		y[i] = sigmoid(v + m.Background[i%size])
	}
	loss := squaredError(x, y) / (2 * tau * n)
	dt, weight := g.dt.Data().([]float32), g.weight.Data().([]float32)
	frames, list := []int{0, 1, 2, 3, 4, 5}, []Pair{}
	reordered, reorderedSD := make([]float32, 0, n*d), make([]float32, 0, n*d)
	for k := range pairs { // the graph holds first frames, then second frames; profiled wants them in turn
		list = append(list, Pair{2 * k, float64(dt[k])})
		for _, r := range []int{k, pairs + k} {
			reordered = append(reordered, mean[r*d:(r+1)*d]...)
			reorderedSD = append(reorderedSD, sd[r*d:(r+1)*d]...)
		}
	}
	for i, q := range m.profiled(reordered, reorderedSD, frames, list) {
		loss += 0.5 * q * float64(weight[i])
	}
	for _, v := range logSD {
		loss -= float64(v) / n
	}
	if got := float64(g.loss.Data().(float32)); math.Abs(got-loss) > 1e-4*math.Abs(loss) {
		t.Errorf("the graph's loss is %.6f, the equations give %.6f", got, loss)
	}
}
