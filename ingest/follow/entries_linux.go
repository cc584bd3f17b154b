package follow

import (
	"bytes"
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"
)

// entries reads the names in a folder with a system call. It allocates no memory per name, because it may read a million names repeatedly.
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

// Offsets in a struct linux_dirent64.
const (
	entryLength = 16
	entryKind   = 18
	entryName   = 19
)

// next calls take for some more names and returns their number; 0 means the end. A name is valid until take returns. kind is mayBeFolder if the file system
// does not reveal the type.
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
		case unix.DT_DIR: // also . and ..
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
