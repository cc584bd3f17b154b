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

// ErrNotConnected is what Read returns when the source has to be opened again before it can give another frame.
var ErrNotConnected = errors.New("source is not connected")

// OpenError is what a source says that does not open when a run begins.
type OpenError struct{ error }

func (e OpenError) Unwrap() error { return e.error }

// ErrSkip is the reason why one frame cannot be tracked although the stream continues.
type ErrSkip = frame.ErrSkip

// Source gives frames, one at a time, in order.
//
// A live one that is lost is closed and opened again on the same value, as often as it takes. Its numbers begin at 0 at every Open, and
// are made to go on by the runner; its times are its own.
type Source interface {
	// Open connects. ctx bounds the connecting only, and has ended soon after Open returned.
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

// Info is what a Source says of itself.
type Info struct {
	Live        bool   // its producer does not wait: frames come whether or not they are read
	Timed       bool   // it knows when its frames were taken, and does not assume it
	Frames      int    // that Read gives in all; 0 if that is not known, or there is no end
	Compression string // how a file packs its pictures; empty if that is not known
	// Public says that the frames may be anyone's. One that a step or the encoder cannot take is counted then as "unfit_frame", and no number of
	// skips ends the run; of other sources it is a mistake in the configuration, and ends the run.
	Public bool
	// ResumeAfter has the source go on behind a place, a frame's Meta.Place; nil if it cannot. It is called before Open: the first frame given then
	// is the one behind that place, and its Seq is frames, or as many more as were lost in between. With place 0 it begins where the source does.
	ResumeAfter func(place, frames uint64)
}

// Place is how far the frames of a durable source are folded into a law.
type Place struct {
	Sequence uint64 // of the last frame's last message; 0 if the source has none
	Frames   uint64 // the number that the next frame has
}

// Step changes a frame's pixels. It borrows f, and may Replace its Mat.
type Step interface {
	Apply(ctx context.Context, f *frame.Frame) error
	Can() Abilities
	Close() error
}

// Abilities are what a Step can do beside Apply.
type Abilities struct {
	// Independent says that several such steps may share the frames of a stream between them: what one does to a frame does not depend on the frames
	// before.
	Independent bool
	// Region is what a step cuts out of the picture; nil if it cuts none.
	Region Region
	// Look prepares a step for whole films; nil if the step does not need it. For a complete recording, Look gets every frame of a trajectory as
	// the source gives it, before the first of them is applied; a Look after an Apply begins the next. It borrows f and leaves its pixels
	// unchanged. A stream never calls it, and the step uses the frames so far.
	Look func(f *frame.Frame) error
}

// Region is a part of the picture that can be moved. Reach is the region's corner, left and up, when it lies as far right and down as it can in the step's
// input, false before the first frame. Move puts that corner elsewhere within reach, from the next frame on, and begins a trajectory there.
type Region interface {
	Reach() (corner image.Point, ok bool)
	Move(corner image.Point) error
}

// Encoder sees what is in a frame. Dim, of a scene's latent or of each object's, is fixed for the encoder's life. Sees makes memory for what Encode sees, which
// Encode resizes; the runner says which frame that is.
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

// Law is what was learnt of motion, and can be held, forgotten and kept.
type Law interface {
	// Alarms are the events of the last Update; the runner publishes them, and counts those that are not of level info.
	Alarms() []latent.Event
	// Freeze holds the law as it is while latents go on: a touched sample, a new focus.
	Freeze(frozen bool)
	// Reset forgets all that was learnt, as before the first Update.
	Reset()
	Save(w io.Writer) error
	Restore(r io.Reader) error
	Close() error
}

// Estimator folds what is seen into the law of motion. It has no goroutine on the frame path, no clock and no unseeded randomness: the same latents give the same
// estimates. Its methods are called between two frames, so none but Finish and Close may wait. Lists and events that it gives are lent until the next Update.
type Estimator interface {
	Law
	// Update fills dst except Latency, which only the runner's clock knows. It copies data that it keeps. An estimator may hold frames back: then dst
	// describes an earlier frame, or told is false and dst unspecified. An error refuses one frame (not finite, out of order): the runner drops it
	// and continues.
	Update(dst *latent.Estimate, seen latent.Observation) (told bool, err error)
	// Reports are what the last Update has to tell beside its estimate, however much; Last, once, what is left when the run ends. The messages are new, and
	// the runner's. Estimates among them are of frames that were held back.
	Reports() []latent.Message
	Last() []latent.Message
	// Finish learns from the latents that were set aside, where a recording has ended after the latent with that Seq, and writes the law of all of them into
	// dst; false says that it is none but the last.
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

// Watcher looks at every estimate, in the order of the frames, and finds where a rule's condition begins or ends. The list that Watch gives is
// lent until the next Watch; the triggers in it are new, and the runner's.
type Watcher interface {
	Watch(e *latent.Estimate) []*latent.Trigger
}

// Swap makes another model ready for a running stream, as the payload of a command asks: its nets are built and tried when it returns. It is
// called beside the frame path, one call at a time, and ends soon after ctx has. like is the stream's first frame as the source gave it, lent
// until Swap returns and left as it is, nil before one has come. The error refuses the command, and then nothing has changed.
type Swap func(ctx context.Context, payload []byte, like *frame.Frame) (*Replacement, error)

// Replacement is the state of a stream after a change of model. The runner owns the steps, the encoders and the viewer. It owns the estimator
// only while in use: a replaced one stays open and returns to Swap.
type Replacement struct {
	Model     string // for people: its name and digest
	Steps     []NamedStep
	Encoders  []Encoder
	Viewer    Viewer                             // as in Stages
	Estimator Estimator                          // the previous one if it continues
	Keep      func(state []byte, at Place) error // as Options.Keep
	Done      func(used bool)                    // says, once, whether it came to be used; between two frames, so it must not wait
}
