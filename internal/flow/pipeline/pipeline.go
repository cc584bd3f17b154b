// Package pipeline runs one stream: source → steps → encoder → estimator → sinks. It holds the interfaces that the stages
// implement, the runner, the frame queue and the stage clocks. Data flows one way; commands return only through the runner.
package pipeline

import (
	"context"
	"errors"
	"image"
	"io"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// ErrNotConnected reports that the source must be opened again before it can return another frame.
var ErrNotConnected = errors.New("source is not connected")

// OpenError reports that a source could not be opened at the start of a run.
type OpenError struct{ error }

func (e OpenError) Unwrap() error { return e.error }

// ErrSkip is the error of a single frame that cannot be tracked. The stream continues.
type ErrSkip = frame.ErrSkip

// Source returns frames, one at a time, in order.
//
// The runner closes a lost live source and opens the same value again, as often as needed. A source numbers its frames from 0 after every Open, and the runner
// turns these numbers into consecutive ones. It leaves the times of the frames unchanged.
type Source interface {
	// Open connects. ctx limits only the time of connecting, and ends soon after Open has returned.
	Open(ctx context.Context) error
	// Read returns the next frame, which the caller owns. It returns io.EOF at the end, ErrNotConnected if the source must be reopened, and *ErrSkip if one
	// frame was lost and the next may be fine. 101 such frames in a row end a recording; for a live or Public source they are only reported. Read returns
	// promptly when ctx ends, and keeps no reference to ctx.
	Read(ctx context.Context) (*frame.Frame, error)
	// Close frees the resources of Open. It is called once for every Open, on the goroutine that called Open and Read, after the last Read or after a failed
	// Open.
	Close() error
	// Info may be called from any goroutine before Open, and later only between two calls of other methods. The metadata of a file is known only after Open.
	Info() Info
}

// Info describes a Source.
type Info struct {
	Live        bool   // the producer does not wait: frames arrive even if they are not read
	Timed       bool   // the acquisition times of the frames are known, not assumed
	Places      bool   // the frames contain positions of objects instead of pictures
	Frames      int    // number of frames that Read returns; 0 if unknown or endless
	Compression string // compression of a file's pictures; empty if unknown
	// Public is true if anyone may send the frames. Then a frame that a step or the encoder cannot process counts as "unfit_frame", and no number of skipped
	// frames ends the run. For other sources such a frame indicates a mistake in the configuration, and ends the run.
	Public bool
	// ResumeAfter, called before Open, makes the source start with the frame after place, which is an earlier frame's Meta.Place. The Seq of the first frame is
	// then frames plus the number of frames lost in between. Place 0 starts at the source's beginning. ResumeAfter is nil if the source cannot resume.
	ResumeAfter func(place, frames uint64)
}

// Place is the position in a durable source up to which a law has taken in the frames.
type Place struct {
	Sequence uint64 // sequence number of the last frame's last message; 0 if the source has none
	Frames   uint64 // number of the next frame
}

// Step changes a frame's pixels. Apply borrows f, and may Replace its Mat.
type Step interface {
	Apply(ctx context.Context, f *frame.Frame) error
	Can() Abilities
	Close() error
}

// Abilities are the optional features of a Step besides Apply.
type Abilities struct {
	// Independent is true if the result of a frame does not depend on earlier frames. Several such steps may then share the frames of a stream.
	Independent bool
	// Region is the part of the picture that a step cuts out; nil if it cuts none.
	Region Region
	// Look prepares a step for complete recordings; nil if the step does not need it. Look gets every frame of a trajectory, as the source returns it, before
	// the first Apply of that trajectory; a Look after an Apply begins the next trajectory. It borrows f and leaves its pixels unchanged. A running stream
	// never calls Look, and the step then uses the frames so far.
	Look func(f *frame.Frame) error
}

// Region is a movable part of the picture. Reach returns the largest coordinates of its upper left corner in the step's input, or false
// before the first frame. Move moves that corner within reach, from the next frame on, and begins a trajectory there.
type Region interface {
	Reach() (corner image.Point, ok bool)
	Move(corner image.Point) error
}

// Encoder encodes a frame. Dim is the constant dimension of a scene's latent, or of each object's latent. Sees allocates a result for Encode, which resizes it.
// The runner sets the frame's number in the result.
type Encoder interface {
	Dim() int
	Sees() latent.Observation
	Encode(ctx context.Context, dst latent.Observation, f *frame.Frame) error
	Close() error
}

// Viewer renders the encoder's input and the reconstruction from z, as JPEG. Only one goroutine uses it, outside the frame path. For a field, z is empty.
type Viewer interface {
	View(dst *latent.View, f *frame.Frame, z *latent.Latent) error
	Close() error
}

// Law is the law of motion learnt so far. It can be frozen, reset and saved.
type Law interface {
	// Alarms returns the events of the last Update. The runner publishes them, and counts those above level info.
	Alarms() []latent.Event
	// Freeze stops learning while latents continue, for example while someone touches the sample or refocuses.
	Freeze(frozen bool)
	// Reset forgets everything learnt, as before the first Update.
	Reset()
	Save(w io.Writer) error
	Restore(r io.Reader) error
	Close() error
}

// Estimator learns the law of motion from observations. It has no goroutine on the frame path, no clock and no unseeded randomness: the same latents give the
// same estimates. Its methods run between two frames, so only Finish and Close may block. The lists and events that it returns are valid until the next Update.
type Estimator interface {
	Law
	// Update fills dst except Latency, which the runner measures. It copies data that it keeps. An estimator may delay its results: then dst describes an
	// earlier frame, or told is false and dst unspecified. An error refuses one frame (not finite, out of order); the runner drops that frame and continues.
	Update(dst *latent.Estimate, seen latent.Observation) (told bool, err error)
	// Reports returns the messages of the last Update besides its estimate. Last is called once, at the end of the run, and returns the remaining messages. The
	// messages are newly allocated, and the runner owns them. Estimates among them describe frames whose results were delayed.
	Reports() []latent.Message
	Last() []latent.Message
	// Finish is called after a recording has ended with the latent whose Seq is after. It learns from latents set aside before, and writes the law of all
	// latents into dst. It returns false if the law has not changed.
	Finish(dst *latent.SDE, after uint64) bool
	// Follow makes the estimator publish the latents of object id as if it were the only one; id 0 ends this. Its error is a *latent.Refusal.
	Follow(id uint64) error
}

// Sink takes messages: *latent.Estimate, *latent.Law, *latent.Event, *latent.Trigger, *latent.Health, *latent.View, *latent.Track, *latent.Population. It
// copies data that it keeps. Write and Close are called from one goroutine. Close flushes until ctx ends, and frees its resources even if ctx has ended.
//
// An error of Write ends the run, except the errors of package latent: after Undelivered, CutShort and NotTaken the stream continues.
type Sink interface {
	Write(ctx context.Context, m latent.Message) error
	Close(ctx context.Context) error
}

// Watcher reads every estimate, in the order of the frames, and detects when the condition of a rule begins and ends. The list that Watch returns is valid
// until the next Watch; its triggers are newly allocated, and the runner owns them.
type Watcher interface {
	Watch(e *latent.Estimate) []*latent.Trigger
}

// Swap prepares another model for a running stream; payload is the payload of the command. When Swap returns, the nets are built and tested. It is called
// outside the frame path, one call at a time, and returns soon after ctx ends. like is the first frame of the stream, or nil if none has arrived; Swap only
// reads it, and keeps no reference to it. An error refuses the command, and then nothing has changed.
type Swap func(ctx context.Context, payload []byte, like *frame.Frame) (*Replacement, error)

// Replacement is the state of a stream after a change of model. The runner owns the steps, the encoders and the viewer. It owns the estimator only while that
// is in use: a replaced estimator stays open and belongs to Swap again.
type Replacement struct {
	Model     string // name and digest, for display
	Steps     []NamedStep
	Encoders  []Encoder
	Viewer    Viewer                             // as in Stages
	Estimator Estimator                          // the previous estimator if its law continues
	Keep      func(state []byte, at Place) error // as Options.Keep
	Done      func(used bool)                    // called once, with whether the replacement came into use; called between two frames, so it must not block
}
