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

// ErrNotConnected reports that the source must be opened again before its next frame.
var ErrNotConnected = errors.New("source is not connected")

// OpenError reports a source that does not open when a run begins.
type OpenError struct{ error }

func (e OpenError) Unwrap() error { return e.error }

// ErrSkip is the reason why one frame cannot be tracked although the stream continues.
type ErrSkip = frame.ErrSkip

// Source gives frames, one at a time, in order.
//
// The runner closes a lost live source and opens it again on the same value, as often as needed. Its numbers begin at 0 at every Open, and
// the runner continues them; its times do not change.
type Source interface {
	// Open connects. ctx bounds only the connecting, and ends soon after Open returned.
	Open(ctx context.Context) error
	// Read returns the next frame, which the caller owns; io.EOF at the end, ErrNotConnected when it must be reopened, *ErrSkip when one frame was
	// lost and the next may be fine. 101 of those in a row end a recording; for a live or Public source they are reported. It returns promptly
	// when ctx ends, and keeps nothing of ctx.
	Read(ctx context.Context) (*frame.Frame, error)
	// Close frees what Open took. It is called once for every Open, from the goroutine that called Open and Read: after the last Read,
	// or after an Open that failed.
	Close() error
	// Info is called from any goroutine before Open, and between two calls after it. What a file says of itself is there only after Open.
	Info() Info
}

// Info describes a Source.
type Info struct {
	Live        bool   // its producer does not wait: frames arrive even if they are not read
	Timed       bool   // it knows the acquisition times of its frames, and does not assume them
	Places      bool   // its frames hold places of objects, and no pictures
	Frames      int    // number of frames of Read; 0 if unknown or endless
	Compression string // how a file compresses its pictures; empty if unknown
	// Public says that anyone may send the frames. Then a frame that a step or the encoder cannot process counts as "unfit_frame", and no number of
	// skips ends the run. For other sources such a frame is a mistake in the configuration, and ends the run.
	Public bool
	// ResumeAfter makes the source continue after a place, a frame's Meta.Place; nil if it cannot. It is called before Open. The first frame then
	// follows that place. Its Seq is frames, plus the frames lost in between. Place 0 starts at the source's beginning.
	ResumeAfter func(place, frames uint64)
}

// Place is the position in a durable source up to which frames are folded into a law.
type Place struct {
	Sequence uint64 // of the last frame's last message; 0 if the source has none
	Frames   uint64 // number of the next frame
}

// Step changes a frame's pixels. It borrows f, and may Replace its Mat.
type Step interface {
	Apply(ctx context.Context, f *frame.Frame) error
	Can() Abilities
	Close() error
}

// Abilities are a Step's abilities beside Apply.
type Abilities struct {
	// Independent says that several such steps may share the frames of a stream: the result of a frame does not depend on the frames before
	// it.
	Independent bool
	// Region is the part of the picture that a step cuts out; nil if it cuts none.
	Region Region
	// Look prepares a step for whole films; nil if the step does not need it. For a complete recording, Look gets every frame of a trajectory as
	// the source gives it, before the first of them is applied; a Look after an Apply begins the next. It borrows f and leaves its pixels
	// unchanged. A stream never calls it, and the step uses the frames so far.
	Look func(f *frame.Frame) error
}

// Region is a movable part of the picture. Reach returns the largest coordinates of its upper left corner in the step's input, or false
// before the first frame. Move moves that corner within reach, from the next frame on, and begins a trajectory there.
type Region interface {
	Reach() (corner image.Point, ok bool)
	Move(corner image.Point) error
}

// Encoder encodes a frame. Dim, of a scene's latent or of each object's, never changes. Sees makes memory for the result of Encode, which
// resizes it. The runner sets the frame's number in it.
type Encoder interface {
	Dim() int
	Sees() latent.Observation
	Encode(ctx context.Context, dst latent.Observation, f *frame.Frame) error
	Close() error
}

// Viewer shows what the encoders of its model see: the input and the reconstruction from z, as JPEG. It belongs to a goroutine beside the
// frame path. z is empty of a field.
type Viewer interface {
	View(dst *latent.View, f *frame.Frame, z *latent.Latent) error
	Close() error
}

// Law is the law of motion learnt so far. It can be frozen, reset and kept.
type Law interface {
	// Alarms returns the events of the last Update. The runner publishes them, and counts those above level info.
	Alarms() []latent.Event
	// Freeze holds the law while latents continue: a touched sample, a new focus.
	Freeze(frozen bool)
	// Reset forgets everything learnt, as before the first Update.
	Reset()
	Save(w io.Writer) error
	Restore(r io.Reader) error
	Close() error
}

// Estimator folds observations into the law of motion. It has no goroutine on the frame path, no clock and no unseeded randomness: the same latents
// give the same estimates. Its methods run between two frames, so only Finish and Close may wait. Its lists and events are lent until the next Update.
type Estimator interface {
	Law
	// Update fills dst except Latency, which only the runner's clock knows. It copies data that it keeps. An estimator may hold frames back: then dst
	// describes an earlier frame, or told is false and dst unspecified. An error refuses one frame (not finite, out of order): the runner drops it
	// and continues.
	Update(dst *latent.Estimate, seen latent.Observation) (told bool, err error)
	// Reports returns the messages of the last Update beside its estimate. Last returns, once, the remaining messages at the end of the run. The messages
	// are new, and belong to the runner. Their estimates are of frames held back.
	Reports() []latent.Message
	Last() []latent.Message
	// Finish learns from latents set aside, after a recording has ended with the latent of that Seq. It writes the law of all latents into dst. It returns
	// false if the law equals the last one.
	Finish(dst *latent.SDE, after uint64) bool
	// Follow publishes the latents of one of many objects in the form of a single object; 0 stops this. Its error is a *latent.Refusal.
	Follow(id uint64) error
}

// Sink takes messages: *latent.Estimate, *latent.Law, *latent.Event, *latent.Trigger, *latent.Health, *latent.View, *latent.Track,
// *latent.Population. It copies data that it keeps. Write and Close are called from one goroutine. Close flushes, within ctx, and frees even if ctx
// has ended.
//
// An error of Write ends the run, except the errors of package latent: after Undelivered, CutShort and NotTaken the stream continues.
type Sink interface {
	Write(ctx context.Context, m latent.Message) error
	Close(ctx context.Context) error
}

// Watcher reads every estimate, in the order of the frames, and detects the begin and end of a rule's condition. The list of Watch is
// lent until the next Watch; its triggers are new, and belong to the runner.
type Watcher interface {
	Watch(e *latent.Estimate) []*latent.Trigger
}

// Swap makes another model ready for a running stream, as the payload of a command asks. Its nets are built and tested on return. It is
// called beside the frame path, one call at a time, and ends soon after ctx. like is the stream's first frame from the source, lent
// until Swap returns and not changed, nil before the first frame. The error refuses the command, and then nothing has changed.
type Swap func(ctx context.Context, payload []byte, like *frame.Frame) (*Replacement, error)

// Replacement is the state of a stream after a change of model. The runner owns the steps, the encoders and the viewer. It owns the estimator
// only while in use: a replaced one stays open and returns to Swap.
type Replacement struct {
	Model     string // name and digest, for display
	Steps     []NamedStep
	Encoders  []Encoder
	Viewer    Viewer                             // as in Stages
	Estimator Estimator                          // the previous one if it continues
	Keep      func(state []byte, at Place) error // as Options.Keep
	Done      func(used bool)                    // reports, once, whether it came into use; between two frames, so it must not wait
}
