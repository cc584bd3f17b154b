package onnx

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gocv.io/x/gocv"
	"gonum.org/v1/gonum/mat"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/infer/sdevae/dnnl"
	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
)

// bentDegrees are the degrees of the polynomials that tests set by hand, by dimension.
var bentDegrees = map[int]int{1: 5, 2: 4, 3: 3, 5: 2}

// TestBentGaugeInTheFile exports untrained networks with hand-set polynomials. It compares the file's results in OpenCV with Map.Apply and the model's own
// decoder, within 1e-4 (float32, different order of summation).
func TestBentGaugeInTheFile(t *testing.T) {
	suite.Long(t)
	const tolerance = 1e-4
	for _, c := range []network.Form{{Latent: 1}, {Latent: 3}, {Latent: 3, Posterior: network.Cholesky}, {Latent: 5}, {Latent: 5, Posterior: network.Cholesky},
		{Latent: 2, Clock: true}, {Latent: 3, Posterior: network.Cholesky, Clock: true}} {
		d := c.Latent
		rng := rand.New(rand.NewPCG(3, uint64(d)))
		m, clip := untrained(t, c, rng)
		n := clip.Len()
		p, err := m.Encode(clip.Pixels, m.Clock(clip, clip.Frames()), n)
		if err != nil {
			t.Fatal(err)
		}
		ref, b := handmade(p.Mean, d, rng), numeric.NewBasis(d, bentDegrees[d])
		ref.Bend, ref.Unbend = sdevaetest.RandomPolynomial(b, d, 0.1, rng), sdevaetest.RandomPolynomial(b, d, 0.1, rng)
		z, zsd := ref.Apply(p)
		back := encoded(ref, z)
		pictures := make([]float32, n*clip.Size())
		if err := m.Decode(pictures, back, n); err != nil {
			t.Fatal(err)
		}
		encoder := opened(t, m, ref)
		for i := range n {
			var got latent.Latent
			if err := encoder.Encode(context.Background(), &got, pictureOf(t, clip, i)); err != nil {
				t.Fatal(err)
			}
			for k := range d {
				want, spread := float64(z[i*d+k]), float64(zsd[i*d+k])
				if math.Abs(got.Mean[k]-want) > tolerance*(1+math.Abs(want)) || math.Abs(got.SD[k]-spread) > tolerance*spread {
					t.Errorf("d = %d, frame %d, latent %d: OpenCV gives %.6f ± %.6f, apply %.6f ± %.6f", d, i, k, got.Mean[k], got.SD[k], want, spread)
				}
			}
			drawn := make([]float32, clip.Size())
			if err := encoder.Decode(drawn, numeric.Float64s(z[i*d:(i+1)*d])); err != nil {
				t.Fatal(err)
			}
			for p, v := range drawn {
				if want := pictures[i*clip.Size()+p]; math.Abs(float64(v-want)) > tolerance {
					t.Fatalf("d = %d, frame %d, pixel %d: OpenCV draws %.6f, the model %.6f", d, i, p, v, want)
				}
			}
		}
	}
}

// handmade returns a gauge of unit variance with rotation and shear.
func handmade(m []float32, d int, rng *rand.Rand) *gauge.Map {
	r := &gauge.Map{Mean: gauge.ColumnMeans(m, d), To: mat.NewDense(d, d, nil), Back: new(mat.Dense)}
	for i := range d {
		for j := range d {
			r.To.Set(i, j, 0.3*rng.NormFloat64())
		}
		r.To.Set(i, i, 1)
	}
	_ = r.Back.Inverse(r.To) // To is near the identity, so it has an inverse
	return r.UnitVariance(m)
}

// untrained returns random networks for 16×16 pictures, and the clip of noise on which they are calibrated, with two trajectories.
func untrained(t *testing.T, f network.Form, rng *rand.Rand) (*network.Model, *video.Clip) {
	t.Helper()
	clip := &video.Clip{Channels: 1, Height: 16, Width: 16}
	for i := range 12 {
		clip.Times, clip.Trajectory = append(clip.Times, float64(i)), append(clip.Trajectory, uint64(i/7))
		for range clip.Size() {
			clip.Pixels = append(clip.Pixels, rng.Float32())
		}
	}
	m, err := network.New(dnnl.Shape{C: 1, H: 16, W: 16}, f, 6, rng)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	m.Background = network.MeanLogit(clip)
	for i := range m.BelowW {
		m.BelowW[i] = float32(0.01 * rng.NormFloat64())
	}
	if f.Clock {
		m.Span = clip.Span()
	}
	for _, w := range [][]float32{m.MeanT, m.LogSDT, m.BelowT} {
		for i := range w {
			w[i] = float32(0.5 * rng.NormFloat64())
		}
	}
	if err := m.Calibrate(clip, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}); err != nil {
		t.Fatal(err)
	}
	return m, clip
}

// encoded returns the encoder's latents that the decoder's graph computes from z.
func encoded(r *gauge.Map, z []float32) []float32 {
	d := len(r.Mean)
	var m mat.Dense
	m.Mul(r.Unbend.Apply(mat.NewDense(len(z)/d, d, numeric.Float64s(z))), r.Back)
	out := numeric.Float32s(m.RawMatrix().Data)
	for i := range out {
		out[i] += float32(r.Mean[i%d])
	}
	return out
}

// opened returns an encoder for the model file, opened as in the tracker.
func opened(t *testing.T, m *network.Model, ref *gauge.Map) *infer.Encoder {
	t.Helper()
	model, err := infer.Parse("bent.onnx", written(t, m, ref))
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := model.NewEncoder()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { encoder.Close() })
	return encoder
}

// written returns the model file.
func written(t *testing.T, m *network.Model, ref *gauge.Map) []byte {
	t.Helper()
	in, one := m.Encoder.In(), numeric.Float64s(numeric.Filled(1, m.Dim))
	file, err := card.Write(&card.Card{Version: card.Version, Input: card.Input{Channels: in.C, Height: in.H, Width: in.W}, Latent: m.Dim, Clock: m.Span,
		Preprocess: []card.Step{{Kind: "normalise"}}, DT: 1, Seconds: 1, Sigma: one, Mean: one, SD: one}, Encoder(m, ref), Decoder(m, ref))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// pictureOf returns a grey clip's frame in the pipeline's layout. It is closed at the end of the test.
func pictureOf(t *testing.T, c *video.Clip, i int) *frame.Frame {
	t.Helper()
	picture := gocv.NewMatWithSize(c.Height, c.Width, gocv.MatTypeCV32FC1)
	f := frame.New(uint64(i), time.Unix(0, int64(1e9*c.Times[i])), frame.Meta{Trajectory: c.Trajectory[i]}, picture)
	t.Cleanup(func() { f.Close() })
	pixels, err := picture.DataPtrFloat32()
	if err != nil {
		t.Fatal(err)
	}
	copy(pixels, c.Frame(i))
	return f
}
