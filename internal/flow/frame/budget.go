package frame

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Limits on the cost of one frame, independent of the picture's content.
const (
	MostMemory = 1 << 30         // largest memory, including the program and waiting frames, bytes
	MostTime   = 5 * time.Second // processor time
	standing   = 256 << 20       // bytes of MostMemory: the program and waiting frames
)

// ErrTooLarge reports a picture that exceeds the limits of one frame.
var ErrTooLarge = errors.New("too large a picture")

// Work is a computation on whole pictures, with its largest cost per pixel. The cost was measured on worst-case pictures.
type Work struct {
	What        string // description for messages
	Bytes       int    // memory per pixel
	Nanoseconds int    // processor time
}

// The computations with a high cost per pixel. All others accept any picture of a source.
var (
	// Objects locates the objects of a field. A search for the template takes another 3 s at any size.
	Objects = Work{What: "objects are located in pictures", Bytes: 48, Nanoseconds: 100}
	// Look learns the objects of a film from all scales of some of its frames.
	Look = Work{What: "objects are looked for in pictures", Bytes: 110, Nanoseconds: 900}
	// Centroids finds the centroid of an object in every picture of a film in memory. A blank picture takes 0.7 µs per pixel.
	Centroids = Work{What: "a centroid is found in pictures", Bytes: 48, Nanoseconds: 1000}
	// Training surveys the frames of a recording, and prepares them for a model.
	Training = Work{What: "a model is learnt from pictures", Bytes: 24, Nanoseconds: 100}
)

// Largest returns the largest number of pixels of a picture.
func (w Work) Largest() int {
	return min((MostMemory-standing)/w.Bytes, int(MostTime)/w.Nanoseconds)
}

// Check returns ErrTooLarge for a picture that exceeds the limits of one frame. Callers check before they allocate.
func (w Work) Check(width, height int) error {
	if most := w.Largest(); height > 0 && width > most/height {
		return fmt.Errorf("%w: found %dx%d pixels, and %s of at most %d, %.0f a side: crop or bin at the source", ErrTooLarge, width, height, w.What, most, math.Floor(math.Sqrt(float64(most))))
	}
	return nil
}
