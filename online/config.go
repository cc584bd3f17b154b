// Equations
//
//	drift            μ: the network and its gradient, the tangent, the correction; paths of a law          (1) to (3)
//	diffusion        which latents form increments; σ², the noise and their intervals; walk and trap      (4) to (6), (20), (23), (24)
//	kalman.go        the Kalman filter over all dimensions, and forecasts                                  (14)
//	monitor.go       which frames are held back; evidence that the law has changed                         (15), (16)
//	calibration.go   latents to pixels                                                                     (17) to (19)
//	regression       the drift as a posterior mean over groups of drifts, computed beside the frame path   (7) to (13), (21), (22)
//	offline          a whole recording: Fit, Measure, Smooth, Separate; latents against a ground truth             without the Estimator
//
// Numbers of equations are unique across these packages. drift imports none of the other packages. diffusion imports drift, and regression both. The
// Estimator imports all three. offline does not import the Estimator.
//
// Symbols
//
// Symbols follow Hasan, Pereira, Farsiu and Tarokh, "Identifying Latent Stochastic Differential Equations" (2021). Code uses words, except in
// kernels, whose comments give the symbol of each name:
//
//	z, d        latent and its dimension              latent.Latent.Mean, drift.Network.Dim
//	m, S        the encoder's mean and variance of z  Latent.Mean, Latent.SD²; m is the measurement of z
//	x           frame (the paper's X)                 unused here; in code x is the start of a transition
//	μ           drift, latent/s                       drift.Network.Drift, Estimate.Drift
//	σ, v = σ²   diffusion, latent/s^½                 SDE.Sigma; SDE.Diffusion is σ²/2; V of a diffusion.Estimate
//	Δt          time step, s, always from the frames' acquisition times
//	R           variance of the latents' noise        SDE.Noise is √R; estimated from the motion, not taken from the encoder
//	r = R/(vΔt), ψ = vΔt/R
//	T, n        observed time and transitions         SDE.Seconds, SDE.Transitions
//	γ           factor on a transition's weight at each later transition    Config.Forget
//	A           frames between false alarms           Config.AlarmFrames
//	J           the drift's Jacobian                  drift.Tangent.Jacobian

package online

import (
	"fmt"
	"time"

	"driftscope/online/drift"
)

// leastReplay is the smallest Replay, in transitions.
const leastReplay = 64

// Config holds the settings of an Estimator. Zero values mean the defaults named here.
type Config struct {
	Dim         int            // d, 1 to 64; no default
	Seed        uint64         // seed of the drift's random networks
	Prior       *drift.Network // the model's own drift, where refinement starts; nil: zero drift. New copies it
	MaxGap      time.Duration  // longest gap within an increment; 0: no limit
	Exposure    time.Duration  // exposure time of a frame, which blurs motion; 0: instantaneous
	Refresh     uint64         // frames between refreshes of the SDE; 0: 10
	RefineLag   uint64         // frames from a slice's snapshot until its weights apply; 0: 50
	Forget      float64        // γ in [0.995,1]: factor on a transition's weight at each later transition; 0: 1, the law forgets nothing
	PixelUM     float64        // side of a pixel in the specimen, µm, at most 1e6; 0: unknown
	Replay      int            // transitions remembered for refinement, 64 to 65536; 0: 4096
	Forecast    []float64      // horizons of forecasts, s, ascending, at most 8; none: no forecasts
	Lead        func() float64 // returns the horizon of the triggers' forecast, s; called by every Update; nil: none. Equal results give equal estimates
	AlarmFrames float64        // least mean number of frames between false alarms about law or frames, 1e3 to 1e7; 0: 1e5
	TrainMean   []float64      // mean of the training latents per dimension; nil: no detection of frames outside the training range
	TrainSD     []float64      // their sd
	// Deterministic makes Update wait for a late slice, so that the same latents always give the same estimates. Without it, no frame waits, and a late slice
	// applies when it is ready.
	Deterministic bool
	// Applied repeats an earlier run: it lists, in ascending order, the Seq at which each refinement applied in that run. Refinements then apply at these
	// frames only. nil: no repetition.
	Applied []uint64
}

// withDefaults replaces zero values and returns an error for an invalid setting.
func (c Config) withDefaults() (Config, error) {
	fallback := func(p *uint64, v uint64) {
		if *p == 0 {
			*p = v
		}
	}
	fallback(&c.Refresh, 10)
	fallback(&c.RefineLag, 50)
	if c.Forget == 0 {
		c.Forget = 1
	}
	if c.Replay == 0 {
		c.Replay = 4096
	}
	if c.AlarmFrames == 0 {
		c.AlarmFrames = 1e5
	}
	if err := CheckHorizons(c.Forecast); err != nil {
		return c, fmt.Errorf("online: %w", err)
	}
	switch {
	case c.Dim < 1 || c.Dim > drift.MaxDim:
		return c, fmt.Errorf("online: dimension %d, expected 1 to %d: give the dimension of the encoder's latents", c.Dim, drift.MaxDim)
	case !(c.Forget >= 0.995 && c.Forget <= 1):
		return c, fmt.Errorf("online: forget %g, expected 0.995 to 1: use 1 - 1/(transitions to remember)", c.Forget)
	case c.Replay < leastReplay || c.Replay > 1<<16:
		return c, fmt.Errorf("online: replay of %d transitions, expected %d to %d: leave it out for 4096", c.Replay, leastReplay, 1<<16)
	case !(c.PixelUM >= 0 && c.PixelUM <= 1e6):
		return c, fmt.Errorf("online: pixel size of %g µm, expected more than 0 and at most 1e6: leave it out if it is unknown", c.PixelUM)
	case c.RefineLag > 1<<16:
		return c, fmt.Errorf("online: refine lag of %d frames, expected at most %d: leave it out for 50", c.RefineLag, 1<<16)
	case !(c.AlarmFrames >= 1e3 && c.AlarmFrames <= 1e7):
		return c, fmt.Errorf("online: alarm frames of %g, expected 1e3 to 1e7: leave the setting out for 1e5", c.AlarmFrames)
	case len(c.TrainMean) != len(c.TrainSD) || len(c.TrainSD) != 0 && len(c.TrainSD) != c.Dim:
		return c, fmt.Errorf("online: the mean of the training latents has %d values and their sd %d, expected %d each: take both from one model", len(c.TrainMean), len(c.TrainSD), c.Dim)
	case c.Exposure < 0 || c.Exposure > time.Hour:
		return c, fmt.Errorf("online: exposure of %v, expected 0 to 1h: give the camera's exposure time", c.Exposure)
	case c.MaxGap < 0:
		return c, fmt.Errorf("online: max gap %v, expected a positive duration: leave it out for no limit", c.MaxGap)
	}
	if c.Prior != nil {
		if err := c.Prior.Validate(); err != nil {
			return c, fmt.Errorf("online: %w", err)
		}
		if c.Prior.Dim != c.Dim {
			return c, fmt.Errorf("online: the drift network has dimension %d, expected the latents' dimension %d: take both from one model", c.Prior.Dim, c.Dim)
		}
		c.Prior = c.Prior.Clone()
	}
	return c, nil
}
