package system

import (
	"errors"
	"os"
)

// ErrHeld reports that another process holds the file.
var ErrHeld = errors.New("a process holds the file")

// OpenToRead opens a file or a folder for reading.
func OpenToRead(path string) (*os.File, error) { return OpenShared(path, os.O_RDONLY, 0) }
