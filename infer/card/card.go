// Package card describes a trained model. The card contains everything that is needed to run an encoder. One ONNX file contains the encoder, the decoder and
// the card. The package is pure Go; the trainer uses it to write model files, and the tracker to read them.
package card

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Version is the newest version of a card that this build writes and reads.
const Version = 1

// Bounds on a card's values. Validate refuses a larger value before any memory is allocated.
const (
	MaxLatent = 64
	MaxSide   = 1024
	MaxHidden = 8
	MaxWidth  = 256
	MaxWeight = 1e12 // bound on the drift's weights, centre and 1/scale, as in package online; above it, squares of drifts may overflow
)

// Card holds everything except the weights that is needed to run an encoder as in training.
type Card struct {
	Version    int       `json:"version" yaml:"version"`
	Input      Input     `json:"input" yaml:"input"`
	Latent     int       `json:"latent" yaml:"latent"`         // dimension d
	Preprocess []Step    `json:"preprocess" yaml:"preprocess"` // steps from the camera's picture to Input, in order
	DT         float64   `json:"dt_s" yaml:"dt_s"`             // the training clip's median frame interval, seconds
	Sigma      []float64 `json:"sigma" yaml:"sigma"`           // σ of the exported latents, latent/s^½
	Mean       []float64 `json:"mean" yaml:"mean"`             // mean of the training latents, per dimension
	SD         []float64 `json:"sd" yaml:"sd"`                 // sd of the training latents, per dimension
	Seconds    float64   `json:"train_s" yaml:"train_s"`       // observed time T of the training clip
	// Clock is the longest clock time in training, in seconds. If it is above 0, the encoder has a second input "t", 1×1: the seconds since the recording, or
	// its current trajectory, began. 0 means that the picture is the only input.
	Clock float64 `json:"clock_s,omitempty" yaml:"clock_s,omitempty"`

	// Objects is set if the encoder's picture is a square around one object of a field. Preprocess then applies to the whole frame, and is often empty.
	Objects *Objects `json:"objects,omitempty" yaml:"objects,omitempty"`

	Drift    *Drift   `json:"drift,omitempty" yaml:"drift,omitempty"`
	Training Training `json:"training" yaml:"training"`
}

// Input is the encoder's picture: float32 in [0,1], NCHW with N = 1. Channels is 1 (grey) or 3 (RGB).
type Input struct {
	Channels int `json:"channels" yaml:"channels"`
	Height   int `json:"height" yaml:"height"`
	Width    int `json:"width" yaml:"width"`
}

// Step is one preprocessing step: its kind, as in a configuration, and its options.
type Step struct {
	Kind    string         `json:"kind" yaml:"kind"`
	Options map[string]any `json:"options,omitempty" yaml:"options,omitempty"`
}

// Drift is the trained drift network: d → Hidden... → d with softplus between, plus a linear skip, on inputs (z - Centre)/Scale. Weights has the order of
// drift.Network.
type Drift struct {
	Hidden  []int     `json:"hidden" yaml:"hidden"`
	Centre  []float64 `json:"centre" yaml:"centre"`
	Scale   float64   `json:"scale" yaml:"scale"`
	Weights []float64 `json:"weights" yaml:"weights"`
}

// Training records how the model was made, so that the training can be repeated.
type Training struct {
	Command  string  `json:"command" yaml:"command"`
	Source   string  `json:"source" yaml:"source"`
	Frames   string  `json:"frames" yaml:"frames"` // A:B, range of the training frames
	Seed     uint64  `json:"seed" yaml:"seed"`
	Tau      float64 `json:"tau" yaml:"tau"`
	Steps    int     `json:"steps" yaml:"steps"`
	HeldOut  float64 `json:"held_out_loss" yaml:"held_out_loss"`
	Digest   string  `json:"data_sha256" yaml:"data_sha256"` // digest of the preprocessed training frames
	Producer string  `json:"producer" yaml:"producer"`

	Verdict *Verdict `json:"verdict,omitempty" yaml:"verdict,omitempty"` // nil without a verdict, as in older files
}

// Validate reports all invalid values in the card together. Each error names its key.
func (c *Card) Validate() error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(c.Version == Version, "version: found %d, this build reads %d", c.Version, Version)
	bad(c.Input.Channels == 1 || c.Input.Channels == 3, "input.channels: found %d, expected 1 or 3", c.Input.Channels)
	bad(c.Input.Height >= 1 && c.Input.Height <= MaxSide, "input.height: found %d, expected 1 to %d", c.Input.Height, MaxSide)
	bad(c.Input.Width >= 1 && c.Input.Width <= MaxSide, "input.width: found %d, expected 1 to %d", c.Input.Width, MaxSide)
	bad(c.Latent >= 1 && c.Latent <= MaxLatent, "latent: found %d, expected 1 to %d", c.Latent, MaxLatent)
	bad((len(c.Preprocess) > 0 || c.Objects != nil) && len(c.Preprocess) <= 32, "preprocess: found %d steps, expected 1 to 32", len(c.Preprocess))
	bad(c.DT > 0 && !math.IsInf(c.DT, 0), "dt_s: found %g, expected a positive number of seconds", c.DT)
	bad(c.Seconds > 0 && !math.IsInf(c.Seconds, 0), "train_s: found %g, expected a positive number of seconds", c.Seconds)
	bad(c.Clock >= 0 && !math.IsInf(c.Clock, 0), "clock_s: found %g, expected the longest clock time in training in seconds, or 0", c.Clock)
	vector := func(name string, v []float64, positive bool) {
		bad(len(v) == c.Latent, "%s: found %d values, expected one per latent dimension (%d)", name, len(v), c.Latent)
		if i := slices.IndexFunc(v, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) || positive && x <= 0 }); i >= 0 {
			bad(false, "%s: found %g, expected finite%s numbers", name, v[i], map[bool]string{true: " positive"}[positive])
		}
	}
	finite := func(name string, x float64) {
		bad(!math.IsNaN(x) && !math.IsInf(x, 0), "%s: found %g, expected a finite number", name, x)
	}
	finite("training.tau", c.Training.Tau)
	finite("training.held_out_loss", c.Training.HeldOut)
	if c.Training.Verdict != nil {
		errs = append(errs, c.Training.Verdict.validate())
	}
	if err := checkSteps(c.Preprocess); err != nil {
		errs = append(errs, err)
	}
	vector("sigma", c.Sigma, true)
	vector("mean", c.Mean, false)
	vector("sd", c.SD, true)
	if c.Objects != nil {
		errs = append(errs, c.Objects.validate(c))
	}
	if c.Drift != nil {
		errs = append(errs, c.Drift.validate(c.Latent))
	}
	return errors.Join(errs...)
}

// validate checks the drift network's shape against latent dimension d.
func (m *Drift) validate(d int) error {
	if len(m.Hidden) == 0 || len(m.Hidden) > MaxHidden {
		return fmt.Errorf("drift.hidden: found %d layers, expected 1 to %d", len(m.Hidden), MaxHidden)
	}
	if slices.ContainsFunc(m.Hidden, func(w int) bool { return w < 1 || w > MaxWidth }) {
		return fmt.Errorf("drift.hidden: found %v, expected widths of 1 to %d", m.Hidden, MaxWidth)
	}
	if len(m.Centre) != d {
		return fmt.Errorf("drift.centre: found %d values, expected %d", len(m.Centre), d)
	}
	beyond := func(x float64) bool { return !(math.Abs(x) <= MaxWeight) }
	if i := slices.IndexFunc(m.Centre, beyond); i >= 0 {
		return fmt.Errorf("drift.centre: found %g, expected numbers within ±%g", m.Centre[i], MaxWeight)
	}
	if !(m.Scale >= 1/MaxWeight) || math.IsInf(m.Scale, 0) {
		return fmt.Errorf("drift.scale: found %g, expected a finite number, at least %g", m.Scale, 1/MaxWeight)
	}
	if want := m.Size(d); len(m.Weights) != want {
		return fmt.Errorf("drift.weights: found %d, expected %d for hidden layers %v", len(m.Weights), want, m.Hidden)
	}
	if i := slices.IndexFunc(m.Weights, beyond); i >= 0 {
		return fmt.Errorf("drift.weights: found %g, expected numbers within ±%g", m.Weights[i], MaxWeight)
	}
	return nil
}

// Size returns the number of weights of a drift network with these hidden layers in d dimensions:
// per layer a matrix and a bias, then the linear skip's d×d matrix.
func (m *Drift) Size(d int) int {
	n, in := d*d, d
	for _, w := range m.Hidden {
		n += in*w + w
		in = w
	}
	return n + in*d + d
}
