// Package frame holds the only type that carries a picture's Mat between packages, and defines Mat: OpenCV's, or plain memory in a build without cgo.
package frame

import "time"

// Meta is a source's information about a frame besides its pixels.
type Meta struct {
	File       string    // file of the frame, empty for cameras and simulations
	Trajectory uint64    // increments are never formed across two of these
	Dropped    uint64    // frames the source lost right before this one
	Place      uint64    // sequence of the frame's last message in a durable stream of frames; 0 if none
	Arrived    time.Time // host clock, monotonic, when the pixels were complete
	Events     []Event   // events of the source or a step while making this frame; the runner publishes them
	Overview   *Overview // nil except in the few frames for display
	Centroid   []float64 // x and y of the object in the frame as it was read, pixels; empty if none was found
	Template   Template  // of a field's objects
	Places     *Places   // of a source of places; nil with a picture
}

// Places are objects that a source sends instead of a picture. Every column has one entry per object.
type Places struct {
	Width, Height int       // of the field, px
	Micrometres   bool      // X, Y and SD are in µm, otherwise in px
	ID            []uint64  // the publisher's numbers, from 1, each once; empty if it has none
	X, Y          []float64 // finite; 0 is the middle of the first pixel
	SD            []float64 // of a place along an axis, above 0; empty if unknown
}

// Template is the appearance of the objects of a field.
type Template struct {
	SD   float64 // of a Gaussian, pixels of the encoder's picture; 0 if unknown
	Dark bool    // darker than their surroundings
}

// Event is a notice that rides on a frame until the runner publishes it; see latent.Event for the fields.
type Event struct {
	Warn bool
	Code string // lower_snake_case
	Text string
}

// Frame is one picture with its number and acquisition time. It owns its Mat: the source that creates a frame hands it over, only
// the pipeline closes it, and steps borrow it. A Frame belongs to one goroutine at a time.
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

// Bytes returns the memory of the pixels, or of the places.
func (f *Frame) Bytes() int {
	if p := f.Meta.Places; p != nil {
		return 32 * len(p.X)
	}
	return f.mat.Total() * f.mat.ElemSize()
}

// Replace closes the old pixels and owns m from now on. Passing the frame's own Mat is a programming error.
func (f *Frame) Replace(m Mat) {
	f.mat.Close()
	f.mat = m
}

// Close frees the pixels. It may be called again, except for a frame of a Pool, which may have become another frame.
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

// Notice adds an event that the runner will publish with this frame.
func (f *Frame) Notice(warn bool, code, text string) {
	f.Meta.Events = append(f.Meta.Events, Event{Warn: warn, Code: code, Text: text})
}

// noCopy lets go vet's copylocks check find copied frames: a copy would close the same C pointer twice.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}
