// Package sharing is how files are shared with other processes: opened so that none is disturbed, and held so that no other has them.
//
// Elsewhere than on Windows a file that is open may be written, renamed and removed by anybody. There its opener says what others may, and os.Open
// (Go 1.26) says read and write, not rename and remove: a microscope's program that renames or replaces the file that is followed would fail.
package sharing

import (
	"errors"
	"os"
)

// ErrHeld says that a process holds the file.
var ErrHeld = errors.New("a process holds the file")

// Open opens a file, or a folder, to read.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }
