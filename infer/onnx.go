//go:build cgo

package infer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// slack is the largest distance of a pixel value from [0,1]. It allows for rounding by interpolation.
const slack = 1e-3

// ErrNoDecoder reports a call of Decode for a model without a decoder.
var ErrNoDecoder = errors.New("the model has no decoder: export it with one")

// Encoder runs a model on frames. It implements pipeline.Viewer, and serves as the encoder of a tracker. An Encoder belongs to one goroutine; each goroutine
// calls Model.NewEncoder for its own.
type Encoder struct {
	model   *Model
	picture []float32 // the encoder's input: channels × height × width, RGB
	trunk   *maps     // nil if net runs the whole encoder
	net     runner
	buffers *buffers // of net
	decoder *network // nil if the model has none
	preview preview

	begin      time.Time // start of the current trajectory, if the model has a clock
	trajectory uint64
}

// NewEncoder opens the model's graphs. The caller closes the Encoder.
func (m *Model) NewEncoder() (*Encoder, error) {
	e, err := m.openEncoder()
	if err != nil || m.decoder == nil {
		return e, err
	}
	in, d := m.Card.Input, m.Card.Latent
	e.decoder, err = openNetwork(m.decoder, []int{1, d}, "", outputPicture)
	if err != nil {
		err = fmt.Errorf("model %s: the decoder does not run on %d latents: %w", m.name, d, err)
		return nil, errors.Join(err, e.Close())
	}
	if got, want := len(e.decoder.buffers.outputs[0]), in.Channels*in.Height*in.Width; got != want {
		err = fmt.Errorf("model %s: the decoder returns %d values, but the card's input of %dx%dx%d has %d: export the model again",
			m.name, got, in.Channels, in.Height, in.Width, want)
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// openEncoder opens only the encoder's graph, either whole or split into its trunk and the rest.
func (m *Model) openEncoder() (*Encoder, error) {
	in := m.Card.Input
	second, err := m.second()
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", m.name, err)
	}
	shape := []int{1, in.Channels, in.Height, in.Width}
	net, err := m.runner(shape, second)
	if err != nil {
		return nil, fmt.Errorf("model %s: the encoder does not run on the card's input of %dx%dx%d (channels, height, width): %w",
			m.name, in.Channels, in.Height, in.Width, err)
	}
	e := &Encoder{model: m, net: net, buffers: net.memory(), picture: net.memory().input}
	if m.trunk != nil {
		e.picture, e.trunk = make([]float32, in.Channels*in.Height*in.Width), m.trunk.maps()
	}
	if err := e.checkOutputs(m.Card.Latent); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// runner opens the encoder's graph, or only the part after the trunk.
func (m *Model) runner(shape []int, second string) (runner, error) {
	switch {
	case m.readout != nil:
		return m.readout.vectors(), nil
	case m.trunk != nil:
		return openNetwork(m.left, m.trunk.output(), second, outputMean, outputLogSD)
	}
	return openNetwork(m.encoder, shape, second, outputMean, outputLogSD)
}

// agrees reports whether two encoders of a model give equal latents for one picture without symmetries, to 1/1000 of the latents' scale. A different order of
// summation changes the latents far less, a different meaning of an operator changes them more.
func (e *Encoder) agrees(other *Encoder) bool {
	for _, encoder := range []*Encoder{e, other} {
		for i := range encoder.picture {
			encoder.picture[i] = float32(i*i%257) / 256
		}
		if encoder.forward() != nil {
			return false
		}
	}
	for i, scale := range e.model.Card.SD {
		mean, sd := float64(other.buffers.outputs[0][i]), float64(other.buffers.outputs[1][i])
		if !(math.Abs(float64(e.buffers.outputs[0][i])-mean) <= 1e-3*(scale+math.Abs(mean))) ||
			!(math.Abs(float64(e.buffers.outputs[1][i])-sd) <= 1e-3*(1+math.Abs(sd))) {
			return false
		}
	}
	return true
}

// forward runs the picture through the graph.
func (e *Encoder) forward() error {
	if e.trunk != nil {
		e.trunk.forward(e.picture, e.buffers.input)
	}
	return e.net.forward()
}

// checkOutputs compares the graph's outputs with the card's latent dimension, and splits a single output into means and log sds.
func (e *Encoder) checkOutputs(d int) error {
	out := e.buffers.outputs
	if len(out) == 1 && len(out[0]) == 2*d {
		e.buffers.outputs = [][]float32{out[0][:d], out[0][d:]}
		return nil
	}
	if len(out) == 1 {
		return fmt.Errorf("model %s: the encoder's only output has %d values, expected %d: the means and the log sds of the card's "+
			"%d latents", e.model.name, len(out[0]), 2*d, d)
	}
	if len(out[0]) != d || len(out[1]) != d {
		return fmt.Errorf("model %s: the encoder returns %d means and %d log sds, but the card has latent: %d: correct the card",
			e.model.name, len(out[0]), len(out[1]), d)
	}
	return nil
}

// Dim returns the latent dimension d.
func (e *Encoder) Dim() int { return e.model.Card.Latent }

// Encode writes f's latent N(Mean, diag SD²) to dst, SD = exp(log_sd). f must be float32 in [0,1] and have the model's shape, as after the card's
// preprocessing; otherwise Encode returns an error. If the latents are not finite, Encode returns a *frame.ErrSkip. A model's clock starts with the first frame
// of each trajectory, so the caller must pass frames in order.
func (e *Encoder) Encode(_ context.Context, dst *latent.Latent, f *frame.Frame) error {
	e.tell(f)
	if err := e.load(f); err != nil {
		return err
	}
	if err := e.forward(); err != nil {
		return fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	dst.Reset(e.Dim())
	dst.Seq, dst.Time = f.Seq, f.Time
	dst.Trajectory, dst.Dropped = f.Meta.Trajectory, f.Meta.Dropped
	for i := range dst.Mean {
		dst.Mean[i] = float64(e.buffers.outputs[0][i])
		dst.SD[i] = math.Exp(float64(e.buffers.outputs[1][i]))
	}
	if slices.ContainsFunc(dst.Mean, notFinite) || slices.ContainsFunc(dst.SD, notFinite) {
		return notANumber(f, "the encoder's outputs")
	}
	return nil
}

// EncodeValues writes the latent of a picture (channels × height × width in [0,1]) to mean and sd, each of length d. The model has no clock.
func (e *Encoder) EncodeValues(mean, sd []float64, picture []float32) error {
	if len(picture) != len(e.picture) || len(mean) != e.Dim() || len(sd) != e.Dim() {
		return fmt.Errorf("found %d pixel values and space for %d latents, but the model has %d and %d", len(picture), len(mean), len(e.picture), e.Dim())
	}
	copy(e.picture, picture)
	if err := e.forward(); err != nil {
		return err
	}
	for i := range mean {
		mean[i], sd[i] = float64(e.buffers.outputs[0][i]), math.Exp(float64(e.buffers.outputs[1][i]))
	}
	return nil
}

// tell sets the clock to f's time since the start of its trajectory. The clock stops at the longest time in training.
func (e *Encoder) tell(f *frame.Frame) {
	if e.buffers.scalar == nil {
		return
	}
	if e.begin.IsZero() || f.Meta.Trajectory != e.trajectory {
		e.begin, e.trajectory = f.Time, f.Meta.Trajectory
	}
	*e.buffers.scalar = float32(min(max(f.Time.Sub(e.begin).Seconds(), 0), e.model.Card.Clock))
}

func notANumber(f *frame.Frame, what string) error {
	return &frame.ErrSkip{
		Cause: "encoder_nan",
		Err:   fmt.Errorf("frame %d: %s are not finite numbers: check the picture", f.Seq, what),
	}
}

// load copies f into the encoder's picture, and reorders height × width × BGR to RGB × height × width.
func (e *Encoder) load(f *frame.Frame) error {
	pixels, err := e.pixels(f)
	if err != nil {
		return err
	}
	low, high, finite := float32(math.Inf(1)), float32(math.Inf(-1)), true
	channels := e.model.Card.Input.Channels
	plane := len(pixels) / channels
	for c := range channels {
		out := e.picture[c*plane : (c+1)*plane]
		from := channels - 1 - c
		for i := range out {
			v := pixels[i*channels+from]
			out[i] = v
			if v < low {
				low = v
			}
			if v > high { // the builtins min and max take three times as long, because they propagate NaN; the loop checks NaN separately
				high = v
			}
			finite = finite && v == v
		}
	}
	if !finite || math.IsInf(float64(high-low), 0) {
		return notANumber(f, "pixels")
	}
	if low < -slack || high > 1+slack {
		return fmt.Errorf("frame %d: found values from %g to %g after preprocess, the model needs 0 to 1: add normalise", f.Seq, low, high)
	}
	return nil
}

// pixels compares f's shape and type with the card and returns f's values without a copy.
func (e *Encoder) pixels(f *frame.Frame) ([]float32, error) {
	m, in := f.Mat(), e.model.Card.Input
	if m.Ptr() == nil || m.Empty() {
		return nil, &frame.ErrSkip{Cause: "empty_frame", Err: fmt.Errorf("frame %d: the picture is empty: check the source", f.Seq)}
	}
	if rows, cols := m.Rows(), m.Cols(); rows != in.Height || cols != in.Width {
		return nil, fmt.Errorf("frame %d is %dx%d after preprocess, the model needs %dx%d: add resize", f.Seq, cols, rows, in.Width, in.Height)
	}
	if c := m.Channels(); c != in.Channels {
		remedy := "give a source in colour"
		if in.Channels == 1 {
			remedy = "add normalise with grey: true"
		}
		return nil, fmt.Errorf("frame %d has %d channels after preprocess, the model needs %d: %s", f.Seq, c, in.Channels, remedy)
	}
	if m.Type()&7 != gocv.MatTypeCV32F { // the low three bits are the depth
		return nil, fmt.Errorf("frame %d is not float32 after preprocess, the model needs float32 values in [0,1]: add normalise", f.Seq)
	}
	return m.DataPtrFloat32()
}

// Decode writes the picture of latents z to dst: channels × height × width values in [0,1], RGB. It returns ErrNoDecoder if the model
// has no decoder.
func (e *Encoder) Decode(dst []float32, z []float64) error {
	if err := e.decode(z); err != nil {
		return err
	}
	if want := len(e.decoder.buffers.outputs[0]); len(dst) != want {
		return fmt.Errorf("decode: found space for %d values, expected %d", len(dst), want)
	}
	copy(dst, e.decoder.buffers.outputs[0])
	return nil
}

// decode writes the picture of z to the decoder's output.
func (e *Encoder) decode(z []float64) error {
	if e.decoder == nil {
		return ErrNoDecoder
	}
	if len(z) != e.Dim() {
		return fmt.Errorf("decode: found %d latents, expected %d", len(z), e.Dim())
	}
	for i, v := range z {
		e.decoder.buffers.input[i] = float32(v)
	}
	if err := e.decoder.forward(); err != nil {
		return fmt.Errorf("decode: %w", err)
	}
	return nil
}

// Close frees the graphs.
func (e *Encoder) Close() error {
	if e.net != nil {
		e.net.close()
	}
	if e.decoder != nil {
		e.decoder.close()
	}
	e.picture, e.trunk, e.net, e.buffers, e.decoder = nil, nil, nil, nil, nil
	return nil
}
