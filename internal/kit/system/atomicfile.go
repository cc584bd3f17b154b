package system

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Suffix is the end of the name of an incomplete file.
const Suffix = ".partial"

// mode is the permission of new files: other users may read them.
const mode = 0o644

// calls are WriteFile's calls to the file system. A test replaces them to record their order or to make one fail.
type calls struct {
	write  func(f *os.File, data []byte) error
	sync   func(f *os.File) error // syncs a file or a folder
	rename func(from, to string) error
}

var real = calls{
	write: func(f *os.File, data []byte) error {
		_, err := f.Write(data)
		return err
	},
	sync:   (*os.File).Sync,
	rename: os.Rename,
}

// WriteFile replaces the content of path by data. If it returns nil, the change survives a power cut. After an error path has the complete old content, or the
// complete new content if only the sync of the folder failed.
func WriteFile(path string, data []byte) error { return real.put(path, data) }

func (c calls) put(path string, data []byte) error {
	f, err := beside(path)
	if err != nil {
		return err
	}
	err = errors.Join(c.write(f, data), f.Chmod(mode))
	if err == nil {
		err = c.sync(f)
	}
	if err == nil {
		err = c.rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	f.Close() // Sync has reported any error
	return c.syncFolder(path)
}

// Rename gives a complete, synced file its final name, and syncs the folder. Both names are in one folder.
func Rename(from, to string) error {
	if err := real.rename(from, to); err != nil {
		return err
	}
	return real.syncFolder(to)
}

// syncFolder makes the rename to path survive a power cut.
func (c calls) syncFolder(path string) error {
	folder, err := OpenToRead(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("%s is written, but not safe from a power cut: %w: make its folder readable", path, err)
	}
	defer folder.Close()
	if err := c.sync(folder); err != nil && !Unsynced(err) {
		return fmt.Errorf("%s is written, but not safe from a power cut: %w: check the disk", path, err)
	}
	return nil
}

// Writable checks, before long work, whether WriteFile will be able to write path.
func Writable(path string) error {
	f, err := beside(path)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the temporary name
		}
		return fmt.Errorf("%s: cannot create the file: %w: give a path in an existing, writable folder", path, err)
	}
	return errors.Join(os.Remove(f.Name()), f.Close(), real.syncFolder(path))
}

// beside creates the temporary file that becomes path.
func beside(path string) (*os.File, error) {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return Create(fmt.Sprintf("%s.%x%s", path, random, Suffix), 0o600)
}

// Create creates a new file and holds it. Until the file is closed, Take returns nil for it in every process.
func Create(path string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := OpenShared(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
		if err != nil {
			return nil, err
		}
		Hold(f, true)     // if the file system has no locks, Take returns nil too
		if !replaced(f) { // otherwise another process took it for a leftover before it was held
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// replaced reports whether the name of f now belongs to another file.
func replaced(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false // the writes will fail
	}
	there, err := os.Lstat(f.Name())
	return err != nil || !os.SameFile(mine, there)
}

// Take opens and holds a leftover file, which only one process can do at a time. It returns nil if a process holds the file, if the file is missing, or if the
// file system has no locks.
func Take(path string) *os.File {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := OpenOwn(path)
	if err != nil {
		return nil
	}
	if Hold(f, false) == nil && !replaced(f) {
		return f
	}
	f.Close()
	return nil
}

// Sweep removes the leftovers of killed processes that wrote path, and returns their names. It does not remove files that a process still writes, or files with
// names that WriteFile never uses.
func Sweep(path string) (removed []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !leftover(e.Name(), filepath.Base(path)) {
			continue
		}
		name := filepath.Join(filepath.Dir(path), e.Name())
		f := Take(name)
		if f == nil {
			continue
		}
		if gone := os.Remove(name); gone != nil {
			err = errors.Join(err, gone)
		} else {
			removed = append(removed, name)
		}
		f.Close()
	}
	return removed, err
}

// leftover reports whether name is a temporary name of WriteFile for base.
func leftover(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base+".")
	digits, ok2 := strings.CutSuffix(rest, Suffix)
	if _, err := hex.DecodeString(digits); err != nil || !ok || !ok2 {
		return false
	}
	return len(digits) == 16
}
