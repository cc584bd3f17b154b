package network

import (
	"math"
	"math/rand/v2"
	"testing"

	G "gorgonia.org/gorgonia"

	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/internal/suite"
)

// TestReconstruction compares 3 rec and its gradient with respect to the logits with central differences in float64, in two runs of a machine.
func TestReconstruction(t *testing.T) {
	suite.Long(t)
	const n, size, tau, factor = 3, 20, 0.4, 3
	rng := rand.New(rand.NewPCG(13, 14))
	x, drawn, background := zeros(n, size), zeros(n, size), make([]float32, size)
	for i := range background {
		background[i] = float32(rng.NormFloat64())
	}
	g := G.NewGraph()
	node := G.NodeFromAny(g, drawn, G.WithName("drawn"))
	loss := G.Must(G.Mul(G.Must(G.ApplyOp(newReconstruction(x, background, tau), node)), G.NewConstant(float32(factor))))
	if _, err := G.Grad(loss, node); err != nil {
		t.Fatal(err)
	}
	vm := G.NewTapeMachine(g, G.BindDualValues(node))
	defer vm.Close()
	for range 2 {
		for i := range x.Data().([]float32) {
			x.Data().([]float32)[i], drawn.Data().([]float32)[i] = rng.Float32(), float32(rng.NormFloat64())
		}
		vm.Reset()
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		logits := numeric.Float64s(drawn.Data().([]float32))
		want := func() (sum float64) {
			for i, v := range numeric.Float64s(x.Data().([]float32)) {
				e := 1/(1+math.Exp(-logits[i]-float64(background[i%size]))) - v
				sum += factor * e * e / (2 * tau * n)
			}
			return sum
		}
		v, err := node.Grad()
		if err != nil {
			t.Fatal(err)
		}
		got, slopes := v.Data().([]float32), make([]float64, n*size)
		for i := range slopes {
			const h = 1e-5
			keep := logits[i]
			logits[i] = keep + h
			up := want()
			logits[i] = keep - h
			slopes[i] = (up - want()) / (2 * h)
			logits[i] = keep
		}
		sdevaetest.Agree(t, "the loss", []float32{loss.Value().Data().(float32)}, []float64{want()})
		sdevaetest.Agree(t, "its gradient", got, slopes)
		clear(got) // Gorgonia adds to existing gradients
	}
}
