//go:build !linux

package follow

import (
	"errors"
	"io"
	"os"

	"driftscope/internal/kit/system"
)

// entries reads the names in a folder.
type entries struct{ folder *os.File }

func openEntries(path string) (*entries, error) {
	folder, err := system.OpenToRead(path)
	return &entries{folder}, err
}

// next calls take for some more names and returns their number; 0 means the end. A name is valid until take returns.
func (e *entries) next(take func(name []byte, kind entryType)) (n int, err error) {
	found, err := e.folder.ReadDir(batchNames)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	for _, f := range found {
		kind := isNoFolder
		if f.IsDir() {
			kind = isFolder
		}
		take([]byte(f.Name()), kind)
	}
	return len(found), err
}

func (e *entries) close() error { return e.folder.Close() }
