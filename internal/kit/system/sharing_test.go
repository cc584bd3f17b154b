package system

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Others may write, rename and remove a file that is open here, and it can still be read.
func TestOthersGoOn(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "film.tif")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenToRead(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	writer, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.WriteString(" two"); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(folder, "renamed.tif")
	if err := os.Rename(path, moved); err != nil {
		t.Errorf("renamed while it is read: %v", err)
	}
	if data, err := io.ReadAll(f); err != nil || string(data) != "one two" {
		t.Errorf("read %q, %v", data, err)
	}
	if err := os.Remove(moved); err != nil {
		t.Errorf("removed while it is read: %v", err)
	}
	if f.Name() != path {
		t.Errorf("its name is %s", f.Name())
	}
	if _, err := OpenToRead(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
	if dir, err := OpenToRead(folder); err != nil {
		t.Errorf("a folder: %v", err)
	} else {
		dir.Close()
	}
}

// Only one process can create a file, and only one can hold it.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := OpenShared(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenShared(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); !errors.Is(err, fs.ErrExist) {
		t.Errorf("made twice: %v", err)
	}
	if err := Hold(first, true); err != nil {
		t.Fatal(err)
	}
	if _, err := first.WriteString("held"); err != nil {
		t.Fatal(err)
	}
	second, err := OpenOwn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := Hold(second, false); !errors.Is(err, ErrHeld) {
		t.Errorf("held twice: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "held" {
		t.Errorf("what is held is read as %q, %v", data, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Hold(second, true); err != nil {
		t.Errorf("held behind the first: %v", err)
	}
	if runtime.GOOS != "windows" { // on Windows, links need a special privilege
		link := path + ".link"
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if f, err := OpenOwn(link); err == nil {
			f.Close()
			t.Error("a link was opened")
		}
	}
	if Unsynced(errors.New("another error")) {
		t.Error("any error says that folders are not synced")
	}
}
