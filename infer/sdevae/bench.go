package sdevae

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/video"
)

// Cost holds the duration of a training step, in milliseconds per frame.
type Cost struct {
	Forward   float64 // both trunks in training mode, the linear layers, the sampling of latents and the error of the pictures
	Backward  float64 // loss and gradients minus Forward; includes the small computations of the transition
	Optimiser float64 // Adam
	Train     float64 // a whole step as in Train: drawing pairs and noise, loss, gradients, Adam
}

// benchSide is the side in pixels of the paper's pictures, which have three colours.
const benchSide = 64

// benchWarmup is the number of steps before timing starts. In these, oneDNN compiles its kernels and Gorgonia allocates its memory.
const benchWarmup = 3

// StepCost trains the paper's encoder and decoder on random pictures of 3x64x64 and returns the median time of each part over the timed steps. frames is the
// number of frames per batch, even. Until it returns, oneDNN and the whole process use at most `threads` threads.
func StepCost(frames, latent, threads, steps int) (Cost, error) {
	if frames < 4 || frames%2 != 0 || latent < 1 || threads < 1 || steps < 1 {
		return Cost{}, fmt.Errorf("%d frames, %d latents, %d threads, %d steps: expected an even number of frames from 4, and at least 1 of the rest",
			frames, latent, threads, steps)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
	clip := randomClip(frames)
	pairs := clip.Pairs(clip.MaxGap())
	config := Config{Latent: latent, Tau: PaperTau, Pairs: frames / 2, Steps: benchWarmup + steps, FreezeSteps: -1}.withDefaults(len(pairs))
	s, err := newSession(&job{clip: clip, config: config, train: pairs}, 0)
	if err != nil {
		return Cost{}, err
	}
	defer s.discard()
	s.model.Encoder.SetThreads(threads)
	s.model.Decoder.SetThreads(threads)
	return s.cost(steps)
}

// cost times single steps. The parts of a step run directly after each other, so a slowdown of the machine affects all parts.
func (s *session) cost(steps int) (Cost, error) {
	pass := network.NewForwardPass(s.model, s.graph, s.job.config.Tau)
	parts := []struct {
		run  func() error
		took []float64
	}{
		{run: func() error {
			_, err := s.step()
			return err
		}},
		{run: pass.Run},
		{run: s.graph.Machine.Run},
		{run: func() error { return s.optimiser.Update(&s.graph.Machine, 0) }}, // the time does not depend on the rate, so 0 serves
	}
	for step := range benchWarmup + steps {
		for i := range parts {
			start := time.Now()
			if err := parts[i].run(); err != nil {
				return Cost{}, err
			}
			if step >= benchWarmup {
				parts[i].took = append(parts[i].took, time.Since(start).Seconds()*1e3/float64(2*s.job.config.Pairs))
			}
		}
	}
	var m [4]float64
	for i, p := range parts {
		slices.Sort(p.took)
		m[i] = (p.took[(steps-1)/2] + p.took[steps/2]) / 2
	}
	return Cost{Train: m[0], Forward: m[1], Backward: m[2] - m[1], Optimiser: m[3]}, nil
}

// randomClip returns n pictures of white noise, one second apart.
func randomClip(n int) *video.Clip {
	rng := rand.New(rand.NewPCG(1, 0))
	c := &video.Clip{Channels: 3, Height: benchSide, Width: benchSide, Times: make([]float64, n), Trajectory: make([]uint64, n)}
	c.Pixels = make([]float32, n*c.Size())
	for i := range c.Pixels {
		c.Pixels[i] = rng.Float32()
	}
	for i := range c.Times {
		c.Times[i] = float64(i)
	}
	return c
}
