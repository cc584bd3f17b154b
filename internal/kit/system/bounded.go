package system

import (
	"fmt"
	"io"
	"os"
)

// ReadBounded reads a file of at most limit bytes.
func ReadBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, expected at most %d", path, info.Size(), limit)
	}
	data := make([]byte, info.Size()) // one allocation: a growing buffer takes twice as much
	_, err = io.ReadFull(f, data)
	return data, err
}
