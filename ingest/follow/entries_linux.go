package follow

import (
	"bytes"
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// entries are what a folder holds, read as the system gives it: a million names are read again and again, and cost no memory.
type entries struct {
	folder *os.File
	buffer []byte
}

func openEntries(path string) (*entries, error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &entries{folder, make([]byte, 64<<10)}, nil
}

// Places in a struct linux_dirent64.
const (
	entryLength = 16
	entryKind   = 18
	entryName   = 19
)

// next gives take some more names, which are valid until it returns; none is the end. kind is mayBeFolder where the file system does not say.
func (e *entries) next(take func(name []byte, kind entryType)) (n int, err error) {
	got, err := unix.Getdents(int(e.folder.Fd()), e.buffer)
	for err == unix.EINTR {
		got, err = unix.Getdents(int(e.folder.Fd()), e.buffer)
	}
	if err != nil {
		return 0, &os.PathError{Op: "getdents", Path: e.folder.Name(), Err: err}
	}
	for rest := e.buffer[:got]; len(rest) > entryName; n++ {
		length := min(int(binary.NativeEndian.Uint16(rest[entryLength:])), len(rest))
		name, _, _ := bytes.Cut(rest[entryName:max(length, entryName)], []byte{0})
		switch rest[entryKind] {
		case unix.DT_DIR: // . and .. too
			take(name, isFolder)
		case unix.DT_UNKNOWN:
			take(name, mayBeFolder)
		default:
			take(name, isNoFolder)
		}
		rest = rest[max(length, 1):]
	}
	return n, nil
}

func (e *entries) close() error { return e.folder.Close() }
