package bounded

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// MaxFrames bounds the time axis of a recording: 16 million frames are two days at 100 frames per second.
const MaxFrames = 1 << 24

// ErrTorn marks errors of a file that is shorter than its contents claim.
var ErrTorn = errors.New("the file is torn, copy it again")

// File is a file of known size.
type File struct {
	R    io.ReaderAt
	Size int64
}

// Holds returns an error if the file is too short for n bytes at the offset.
func (f *File) Holds(at, n uint64) error {
	if size := uint64(f.Size); n > size || at > size-n {
		return fmt.Errorf("%w: it refers to %d bytes at byte %d, but has only %d", ErrTorn, n, at, size)
	}
	return nil
}

// Bytes reads n bytes into b and reuses its memory. It allocates nothing if the file is too short.
func (f *File) Bytes(b []byte, at, n uint64) ([]byte, error) {
	if err := f.Holds(at, n); err != nil {
		return b, err
	}
	b = Resized(b, int(n))
	if got, err := f.R.ReadAt(b, int64(at)); got < len(b) {
		return b, fmt.Errorf("%w: it has %d bytes at byte %d, %d expected (%w)", ErrTorn, got, at, n, err)
	}
	return b, nil
}

// Resized returns a slice of length n with unspecified contents, in the memory of b if possible.
func Resized(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }
