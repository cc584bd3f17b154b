package network

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
)

// TestAlignDecoder: re-initialised latents that are an affine map of the previous ones give the same pictures, up to rounding.
func TestAlignDecoder(t *testing.T) {
	clip := sdevaetest.Walk(40, 3)
	m, err := New(dnnl.Shape{C: 1, H: 8, W: 8}, Form{Latent: 2, Posterior: Diagonal, Diffusion: Profiled, Substeps: 1}, 16, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	m.Background = MeanLogit(clip)
	frames := clip.Frames()
	if err := m.Calibrate(clip, frames); err != nil {
		t.Fatal(err)
	}
	_, p, err := m.Read(clip, frames)
	if err != nil {
		t.Fatal(err)
	}
	before := mat.NewDense(len(frames), 2, numeric.Float64s(p.Mean))
	after := mat.NewDense(len(frames), 2, nil)
	after.Mul(before, mat.NewDense(2, 2, []float64{3, 1, -2, 0.5}))
	for i := range frames {
		after.Set(i, 0, after.At(i, 0)+7)
	}
	draw := func(z *mat.Dense) []float32 {
		pictures := make([]float32, len(frames)*clip.Size())
		if err := m.Decode(pictures, numeric.Float32s(z.RawMatrix().Data), len(frames)); err != nil {
			t.Fatal(err)
		}
		return pictures
	}
	want := draw(before)
	if err := m.AlignDecoder(before, after); err != nil {
		t.Fatal(err)
	}
	if off := floats.Distance(numeric.Float64s(draw(after)), numeric.Float64s(want), math.Inf(1)); off > 1e-3 {
		t.Errorf("pictures differ by up to %g", off)
	}
}
