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

// Suffix ends the name of a file that is not whole yet.
const Suffix = ".partial"

// mode is that of a file that others may read.
const mode = 0o644

// calls are what Write asks of the file system; a test sees their order, and has them fail.
type calls struct {
	write  func(f *os.File, data []byte) error
	sync   func(f *os.File) error // of a file or a folder
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

// WriteFile has path hold data, in place of what it holds. When it returns nil a power cut no longer undoes that. After an error path is whole:
// the old content, or, where only the folder could not be synced, the new.
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
	f.Close() // what it could say, sync has said
	return c.syncFolder(path)
}

// Rename gives a file that is whole and synced its name, and syncs the folder. Both names lie in one folder.
func Rename(from, to string) error {
	if err := real.rename(from, to); err != nil {
		return err
	}
	return real.syncFolder(to)
}

// syncFolder has a power cut no longer undo what was renamed to path.
func (c calls) syncFolder(path string) error {
	folder, err := OpenToRead(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("%s is written, but not safe from a power cut: %w: let its folder be read", path, err)
	}
	defer folder.Close()
	if err := c.sync(folder); err != nil && !Unsynced(err) {
		return fmt.Errorf("%s is written, but not safe from a power cut: %w: check the disk", path, err)
	}
	return nil
}

// Writable finds before the work whether Write could write path after it.
func Writable(path string) error {
	f, err := beside(path)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the temporary name
		}
		return fmt.Errorf("%s: no file can be made there: %w: give one in a folder that is there and can be written to", path, err)
	}
	return errors.Join(os.Remove(f.Name()), f.Close(), real.syncFolder(path))
}

// beside makes the file that is to become path.
func beside(path string) (*os.File, error) {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return Create(fmt.Sprintf("%s.%x%s", path, random, Suffix), 0o600)
}

// Create makes a file that is not there yet and holds it: until it is closed, Take in no process gives it.
func Create(path string, mode fs.FileMode) (*os.File, error) {
	for {
		f, err := OpenShared(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, mode)
		if err != nil {
			return nil, err
		}
		Hold(f, true)     // where the file system knows no locks Take gives nothing either
		if !replaced(f) { // else somebody took it for left behind before it was held
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// replaced says that f is no longer what lies under its name.
func replaced(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false // the writes will say so
	}
	there, err := os.Lstat(f.Name())
	return err != nil || !os.SameFile(mine, there)
}

// Take opens a file that was left behind and holds it, so that nobody else does at the same time. It gives nil where a process holds the file,
// where there is none, and where nobody can tell.
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

// Sweep removes what killed processes left of writing path, and gives the names. What a process writes now stays, and so does every file
// whose name Write does not make.
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

// leftover says whether Write makes this name on the way to base.
func leftover(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base+".")
	digits, ok2 := strings.CutSuffix(rest, Suffix)
	if _, err := hex.DecodeString(digits); err != nil || !ok || !ok2 {
		return false
	}
	return len(digits) == 16
}
