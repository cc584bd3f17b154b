package onnx

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/gauge"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/numeric"
	"driftscope/infer/sdevae/sdevaetest"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
)

// TestRestoredModel writes untrained networks as files, straight and bent, with and without covariances, and restores each into a model with other weights. It
// compares the restored model with the file in OpenCV and with the original model, within 1e-4 (float32, different order of summation, gauge applied and
// inverted).
func TestRestoredModel(t *testing.T) {
	suite.Long(t)
	const tolerance = 1e-4
	for _, c := range []struct {
		name string
		network.Form
		bent bool
	}{
		{"one latent", network.Form{Latent: 1}, false},
		{"straight", network.Form{Latent: 3}, false},
		{"straight with covariances", network.Form{Latent: 3, Posterior: network.Cholesky}, false},
		{"bent", network.Form{Latent: 3}, true},
		{"bent with covariances", network.Form{Latent: 3, Posterior: network.Cholesky}, true},
		{"with a clock", network.Form{Latent: 3, Clock: true}, false},
		{"bent with covariances and a clock", network.Form{Latent: 3, Posterior: network.Cholesky, Clock: true}, true},
		{"bent by squares with covariances", network.Form{Latent: 5, Posterior: network.Cholesky}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.Latent
			rng := rand.New(rand.NewPCG(5, uint64(d)))
			old, clip := untrained(t, c.Form, rng)
			n := clip.Len()
			p, err := old.Encode(clip.Pixels, old.Clock(clip, clip.Frames()), n)
			if err != nil {
				t.Fatal(err)
			}
			ref := symmetric(p.Mean, d, rng)
			if c.bent {
				ref = handmade(p.Mean, d, rng)
				b := numeric.NewBasis(d, bentDegrees[d])
				ref.Bend, ref.Unbend = sdevaetest.RandomPolynomial(b, d, 0.1, rng), sdevaetest.RandomPolynomial(b, d, 0.1, rng)
			}
			o := originOf(t, written(t, old, ref))
			m, _ := untrained(t, c.Form, rng)
			m.Span *= 1.5 // T of another clip
			if err := o.Restore(m, clip, video.FramesOf(clip.Pairs(1))); err != nil {
				t.Fatal(err)
			}
			q, err := m.Encode(clip.Pixels, m.Clock(clip, clip.Frames()), n)
			if err != nil {
				t.Fatal(err)
			}
			to, err := o.affineMap()
			if err != nil {
				t.Fatal(err)
			}
			z, sd := (&gauge.Map{Mean: make([]float64, d), To: to, Bend: ref.Bend}).Apply(q)
			encoder := opened(t, old, ref)
			for i := range n {
				var file latent.Latent
				if err := encoder.Encode(context.Background(), &file, pictureOf(t, clip, i)); err != nil {
					t.Fatal(err)
				}
				for k := range d {
					got, spread := float64(z[i*d+k]), float64(sd[i*d+k])
					if math.Abs(got-file.Mean[k]) > tolerance*(1+math.Abs(got)) || math.Abs(spread-file.SD[k]) > tolerance*spread {
						t.Errorf("frame %d, latent %d: restored %.6f ± %.6f, the file %.6f ± %.6f", i, k, got, spread, file.Mean[k], file.SD[k])
					}
				}
			}
			want, got := make([]float32, n*clip.Size()), make([]float32, n*clip.Size())
			if err := old.Decode(want, p.Mean, n); err != nil {
				t.Fatal(err)
			}
			if err := m.Decode(got, q.Mean, n); err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if math.Abs(float64(v-want[i])) > tolerance {
					t.Fatalf("pixel %d: restored %.6f, before %.6f", i, v, want[i])
				}
			}
		})
	}
}

// symmetric returns a straight gauge as from whitening, with off-diagonal entries of either sign.
func symmetric(m []float32, d int, rng *rand.Rand) *gauge.Map {
	to := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range i {
			v := 0.3 * rng.NormFloat64()
			to.Set(i, j, v)
			to.Set(j, i, v)
		}
		to.Set(i, i, 2)
	}
	back := new(mat.Dense)
	_ = back.Inverse(to) // to is near twice the identity, so it has an inverse
	return &gauge.Map{Mean: gauge.ColumnMeans(m, d), To: to, Back: back}
}

func originOf(t *testing.T, file []byte) *Origin {
	t.Helper()
	f, err := card.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	o, err := ReadOrigin(f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
