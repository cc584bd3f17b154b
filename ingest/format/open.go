package format

import (
	"fmt"
	"os"

	"driftscope/internal/kit/system"
)

// OpenFilled opens a file and rejects an empty one.
func OpenFilled(path string) (file *os.File, size int64, err error) {
	file, size, err = Open(path)
	if err == nil && size == 0 {
		file.Close()
		return nil, 0, fmt.Errorf("%s is empty: record or copy it again", path)
	}
	return file, size, err
}

// Open opens a regular file. It rejects folders and devices, which would fail or block later.
func Open(path string) (file *os.File, size int64, err error) {
	info, err := os.Stat(path) // checked before opening, because opening a pipe without a writer blocks
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file (its mode is %v): give a file", path, info.Mode().Type())
	}
	file, err = system.OpenToRead(path)
	return file, info.Size(), err
}
