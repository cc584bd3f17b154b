package sdevae

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"driftscope/infer/card"
	"driftscope/internal/latent"
	"driftscope/internal/suite"
)

// TestRestoredModel writes untrained networks as files, straight and bent, with and without covariances, restores each into a
// model of other weights, and compares what that computes with the file on OpenCV and with the model that was written: within
// 1e-4 (float32, another order of summation, the frame of reference there and back).
func TestRestoredModel(t *testing.T) {
	suite.Long(t)
	const tolerance = 1e-4
	for _, c := range []struct {
		name string
		Config
		bent bool
	}{
		{"one latent", Config{Latent: 1}, false},
		{"straight", Config{Latent: 3}, false},
		{"straight with covariances", Config{Latent: 3, Posterior: Cholesky}, false},
		{"bent", Config{Latent: 3}, true},
		{"bent with covariances", Config{Latent: 3, Posterior: Cholesky}, true},
		{"with a clock", Config{Latent: 3, Clock: true}, false},
		{"bent with covariances and a clock", Config{Latent: 3, Posterior: Cholesky, Clock: true}, true},
		{"bent by squares with covariances", Config{Latent: 5, Posterior: Cholesky}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.Latent
			rng := rand.New(rand.NewPCG(5, uint64(d)))
			old, clip := untrained(t, c.Config, rng)
			n := clip.Len()
			p, err := old.Encode(clip.Pixels, old.clock(clip, clip.frames()), n)
			if err != nil {
				t.Fatal(err)
			}
			ref := symmetric(p.Mean, d, rng)
			if c.bent {
				ref = handmade(p.Mean, d, rng)
				b := newBasis(d, bentDegrees[d])
				ref.bend, ref.unbend = randomPolynomial(b, d, 0.1, rng), randomPolynomial(b, d, 0.1, rng)
			}
			o := originOf(t, written(t, old, ref))
			m, _ := untrained(t, c.Config, rng)
			m.Span *= 1.5 // of another clip
			if err := o.restore(m, clip, framesOf(clip.Pairs(1))); err != nil {
				t.Fatal(err)
			}
			q, err := m.Encode(clip.Pixels, m.clock(clip, clip.frames()), n)
			if err != nil {
				t.Fatal(err)
			}
			to, err := o.frame()
			if err != nil {
				t.Fatal(err)
			}
			z, sd := (&reference{mean: make([]float64, d), to: to, bend: ref.bend}).apply(q)
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

// symmetric is a straight frame of reference as whitening makes it, its off-diagonal entries of either sign.
func symmetric(m []float32, d int, rng *rand.Rand) *reference {
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
	_ = back.Inverse(to) // near twice the identity
	return &reference{mean: columnMeans(m, d), to: to, back: back}
}

func originOf(t *testing.T, file []byte) *origin {
	t.Helper()
	f, err := card.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	o, err := readOrigin(f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestContinued trains from a model file: it starts where the file ends, also where it has no clock yet, and stays within what a few
// steps can spoil.
func TestContinued(t *testing.T) {
	clip, c := walk(60, 3), brief()
	c.Clock = false
	var cold, warm []float64
	first := train(t, Training{Watch: func(p Progress) { cold = append(cold, p.Loss) }}, clip, c)
	export, err := first.Export(clip, card.Card{Preprocess: []card.Step{{Kind: "normalise"}}})
	if err != nil {
		t.Fatal(err)
	}
	file, err := card.Read(export.File)
	if err != nil {
		t.Fatal(err)
	}
	c.Latent, c.Seed, c.Clock = 0, 9, true
	var start *Look
	again := train(t, Training{From: file, Watch: func(p Progress) {
		if p.Step == 0 {
			start = p.Look
		} else {
			warm = append(warm, p.Loss)
		}
	}}, clip, c)
	if again.Config.Restarts != 1 || again.Model.Dim != 2 || again.Best.Restart != 0 || again.Model.Span != clip.Span() {
		t.Errorf("one run of the file's own dimension expected, found %+v", again.Config)
	}
	// The wake phase kept its best look; sleep then changed the first encoder, by little. The drift starts at zero again.
	if start == nil || again.Best.HeldOut > start.HeldOut || math.Abs(start.Explained-first.Best.Explained) > 0.1 {
		t.Errorf("began at %+v and kept %+v, the model it continues was at %+v", start, again.Best, first.Best)
	}
	if warm[0] > cold[0]-1 {
		t.Errorf("the first loss is %.3f, from random weights it is %.3f", warm[0], cold[0])
	}
}

func TestContinuedRefuses(t *testing.T) {
	clip, _ := swaying(60, 3)
	old, _ := untrained(t, Config{Latent: 2, Posterior: Cholesky}, rand.New(rand.NewPCG(1, 1)))
	ref := &reference{mean: []float64{0, 0}, to: mat.NewDense(2, 2, []float64{1, 0, 0, 1}), back: mat.NewDense(2, 2, []float64{1, 0, 0, 1})}
	file, err := card.Read(written(t, old, ref))
	if err != nil {
		t.Fatal(err)
	}
	foreign, blind, broken := *file, *file, *file
	old.SeedB[3] = float32(math.NaN())
	again, err := card.Read(written(t, old, ref))
	if err != nil {
		t.Fatal(err)
	}
	broken.Decoder = again.Decoder
	foreign.Encoder = (&card.Graph{Name: "other", Tensors: []card.Tensor{{Name: "mean.weight", Shape: []int{2, 7}, Data: make([]float32, 14)}}}).Marshal(nil)
	blind.Decoder = nil
	large := *clip
	large.Height, large.Width = 8, 32
	for _, test := range []struct {
		name string
		file card.File
		clip *Clip
		Config
		want string
	}{
		{"another shape", *file, &large, Config{}, "1x8x32, the model to continue takes 1x16x16"},
		{"another dimension", *file, clip, Config{Latent: 3}, "3 latents were asked for, the model to continue has 2"},
		{"a lesser posterior", *file, clip, Config{Posterior: Diagonal}, "leave the posterior out"},
		{"another architecture", foreign, clip, Config{}, "none that pretrain wrote"},
		{"a broken weight", broken, clip, Config{}, `"seed.bias" holds a number that is not finite`},
		{"no decoder", blind, clip, Config{}, "no decoder"},
	} {
		test.Tau = 1
		_, err := Training{From: &test.file}.Train(context.Background(), test.clip, test.Config)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, an error with %q expected", test.name, err, test.want)
		}
	}
}
