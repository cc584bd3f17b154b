package infer_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/infer"
	"driftscope/infer/card"
	"driftscope/infer/sdevae"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
)

// blobClip returns n frames of 64×64 with the given channels, of a blurred spot in Brownian motion.
func blobClip(n, channels int, seed uint64) *video.Clip {
	rng := rand.New(rand.NewPCG(seed, 0))
	c := &video.Clip{Channels: channels, Height: 64, Width: 64}
	x, y := 32.0, 32.0
	for i := range n {
		for ch := range channels {
			for p := range 64 * 64 {
				dx, dy := float64(p%64)-x, float64(p/64)-y
				c.Pixels = append(c.Pixels, float32(math.Exp(-(dx*dx+dy*dy)/40)/float64(ch+1)))
			}
		}
		c.Times, c.Trajectory = append(c.Times, 0.01*float64(i)), append(c.Trajectory, 0)
		x, y = min(max(x+rng.NormFloat64(), 12), 52), min(max(y+rng.NormFloat64(), 12), 52)
	}
	return c
}

// TestExportedEncoderEqualsItsTrainer trains briefly, writes the model file and compares its results in OpenCV with the trainer's own forward pass: latents,
// standard deviations and reconstructions, within 1e-4 (float32, different order of summation).
func TestExportedEncoderEqualsItsTrainer(t *testing.T) {
	suite.Long(t)
	for _, channels := range []int{1, 3} {
		clip := blobClip(40, channels, 7)
		result, err := sdevae.Train(context.Background(), clip, sdevae.Config{Latent: 2, Seed: 1, Tau: 1, Steps: 12, Pairs: 8, Every: 12}, nil)
		if err != nil && result == nil {
			t.Fatal(err)
		}
		export, err := result.Export(clip, card.Card{Preprocess: []card.Step{{Kind: "normalise", Options: map[string]any{"window": []any{0, 1}}}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		model, err := infer.Parse("trained.onnx", export.File)
		if err != nil {
			t.Fatal(err)
		}
		encoder, err := model.NewEncoder()
		if err != nil {
			t.Fatal(err)
		}
		compare(t, clip, export, encoder)
		encoder.Close()
		result.Model.Close()
	}
}

func compare(t *testing.T, clip *video.Clip, export *sdevae.Export, encoder *infer.Encoder) {
	t.Helper()
	const tolerance = 1e-4
	var z latent.Latent
	for i := range clip.Len() {
		f := frame.New(uint64(i), time.Unix(0, 0), frame.Meta{}, interleaved(t, clip, i))
		if err := encoder.Encode(context.Background(), &z, f); err != nil {
			t.Fatal(err)
		}
		f.Close()
		for k := range z.Mean {
			scale := export.Card.SD[k]
			want, sd := float64(export.Z[i*2+k]), float64(export.SD[i*2+k])
			if math.Abs(z.Mean[k]-want) > tolerance*scale || math.Abs(z.SD[k]-sd) > tolerance*scale {
				t.Errorf("frame %d, latent %d: OpenCV gives %.6f ± %.6f, the trainer %.6f ± %.6f", i, k, z.Mean[k], z.SD[k], want, sd)
			}
		}
	}
}

// interleaved returns frame i in the pipeline's layout: HWC, BGR.
func interleaved(t *testing.T, c *video.Clip, i int) gocv.Mat {
	t.Helper()
	kind := map[int]gocv.MatType{1: gocv.MatTypeCV32FC1, 3: gocv.MatTypeCV32FC3}[c.Channels]
	m := gocv.NewMatWithSize(c.Height, c.Width, kind)
	data, err := m.DataPtrFloat32()
	if err != nil {
		t.Fatal(err)
	}
	area := c.Height * c.Width
	for p := range area {
		for ch := range c.Channels {
			data[p*c.Channels+c.Channels-1-ch] = c.Frame(i)[ch*area+p]
		}
	}
	return m
}
