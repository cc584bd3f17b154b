package frame

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// What one frame may cost a process, whatever its picture shows.
const (
	MostMemory = 1 << 30         // bytes at once, with the program and frames that wait
	MostTime   = 5 * time.Second // of a processor
	standing   = 256 << 20       // bytes of MostMemory: the program, and frames that wait
)

// ErrTooLarge reports a picture that costs more than one frame may.
var ErrTooLarge = errors.New("too large a picture")

// Work is something that is done to whole pictures, with the most that a pixel costs it, measured on pictures made to cost much.
type Work struct {
	What        string // is done, as messages say it
	Bytes       int    // of memory
	Nanoseconds int    // of a processor
}

// The works that take more of a pixel than its own bytes allow. Others take any picture that a source gives.
var (
	// Objects locates the objects of a field. A search for the template takes 3 s more, whatever the size.
	Objects = Work{What: "objects are located in pictures", Bytes: 48, Nanoseconds: 100}
	// Centroids finds the centroid of an object in every picture of a film, all of which are in memory. A blank picture takes 0.7 µs a pixel.
	Centroids = Work{What: "a centroid is found in pictures", Bytes: 48, Nanoseconds: 1000}
	// Training surveys the frames of a recording, and prepares them for a model.
	Training = Work{What: "a model is learnt from pictures", Bytes: 24, Nanoseconds: 100}
)

// Largest returns how many pixels a picture may have.
func (w Work) Largest() int {
	return min((MostMemory-standing)/w.Bytes, int(MostTime)/w.Nanoseconds)
}

// Check refuses a picture that costs more than one frame may. Callers ask before they take memory for the work.
func (w Work) Check(width, height int) error {
	if most := w.Largest(); height > 0 && width > most/height {
		return fmt.Errorf("%w: found %dx%d pixels, and %s of at most %d, %.0f a side: crop or bin at the source", ErrTooLarge, width, height, w.What, most, math.Floor(math.Sqrt(float64(most))))
	}
	return nil
}
