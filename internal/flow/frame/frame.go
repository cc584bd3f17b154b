// Package frame defines Frame, the only type that carries a picture's Mat between packages. Mat is OpenCV's type, or plain memory in a build without cgo.
package frame

import "time"

// Meta is the information about a frame besides its pixels.
type Meta struct {
	File       string    // file of the frame, empty for cameras and simulations
	Trajectory uint64    // number of the trajectory; no increment crosses from one to another
	Dropped    uint64    // number of frames that the source lost right before this one
	Place      uint64    // sequence number of the frame's last message in a durable stream of frames; 0 if none
	Arrived    time.Time // time when the pixels were complete, by the host's monotonic clock
	Events     []Event   // events of the source or a step while making this frame; the runner publishes them
	Overview   *Overview // set only in the few frames for display
	Centroid   []float64 // x and y of the object in the frame as it was read, pixels; empty if none was found
	Template   Template  // appearance of a field's objects
	Places     *Places   // positions instead of a picture; nil with a picture
}

// Places are the positions of objects that a source sends instead of a picture. Every column has one entry per object.
type Places struct {
	Width, Height int       // size of the field, px
	Micrometres   bool      // X, Y and SD are in µm, otherwise in px
	ID            []uint64  // the publisher's numbers, from 1, each once; empty if it has none
	X, Y          []float64 // finite; 0 is the middle of the first pixel
	SD            []float64 // standard deviation of a position along an axis, above 0; empty if unknown
}

// Template is the appearance of the objects of a field.
type Template struct {
	SD   float64 // standard deviation of a Gaussian, pixels of the encoder's picture; 0 if unknown
	Dark bool    // darker than their surroundings
}

// Event is a notice attached to a frame. The runner publishes it; latent.Event explains the fields.
type Event struct {
	Warn bool
	Code string // lower_snake_case
	Text string
}

// Frame is one picture with its number and acquisition time. It owns its Mat. The source that creates a frame passes ownership on, only the pipeline closes the
// frame, and steps borrow it. A Frame belongs to one goroutine at a time.
type Frame struct {
	_    noCopy
	Seq  uint64
	Time time.Time
	Meta Meta

	mat    Mat
	window window
	closed bool
	home   *Pool // nil if the frame was made by New
}

// New makes a frame that owns mat.
func New(seq uint64, t time.Time, m Meta, mat Mat) *Frame {
	return &Frame{Seq: seq, Time: t, Meta: m, mat: mat, window: whole}
}

// Mat lends the pixels until the next Replace or Close.
func (f *Frame) Mat() *Mat { return &f.mat }

// Bytes returns the memory of the pixels, or of the positions.
func (f *Frame) Bytes() int {
	if p := f.Meta.Places; p != nil {
		return 32 * len(p.X)
	}
	return f.mat.Total() * f.mat.ElemSize()
}

// Replace closes the old pixels and takes ownership of m. Passing the frame's own Mat is a programming error.
func (f *Frame) Replace(m Mat) {
	f.mat.Close()
	f.mat = m
}

// Close frees the pixels. A second call is allowed, except for a frame of a Pool, which may already be in use as another frame.
func (f *Frame) Close() error {
	if f.closed {
		return nil
	}
	f.closed = true
	err := f.mat.Close()
	if f.home != nil {
		f.home.put(f)
	}
	return err
}

// Notice attaches an event, which the runner publishes with this frame.
func (f *Frame) Notice(warn bool, code, text string) {
	f.Meta.Events = append(f.Meta.Events, Event{Warn: warn, Code: code, Text: text})
}

// noCopy lets go vet's copylocks check find copied frames: a copy would close the same C pointer twice.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
