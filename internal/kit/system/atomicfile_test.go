package system

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// asWriter is an environment variable. It makes the test binary start to write a file at this path, report it, and wait to be killed.
const asWriter = "ATOMICFILE_TEST_BEGIN"

func TestMain(m *testing.M) {
	asChild()
	if path := os.Getenv(asWriter); path != "" {
		f, err := beside(path)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		f.WriteString("half")
		fmt.Println(f.Name())
		io.Copy(io.Discard, os.Stdin) // until it is closed
		f.Close()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// begin makes another process start to write path. end kills the process.
func begin(t *testing.T, path string) (temporary string, end func()) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), asWriter+"="+path)
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() { c.Process.Kill(); c.Wait() }
	t.Cleanup(end)
	if _, err := fmt.Fscanln(out, &temporary); err != nil {
		t.Fatal(err)
	}
	return temporary, end
}

// names returns the names in a folder.
func names(t *testing.T, folder string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// recorded returns calls that record their order. The call with the name failing fails.
func recorded(t *testing.T, path, failing string, order *[]string) calls {
	note := func(what string, f *os.File) error {
		name := "temporary"
		if info, err := f.Stat(); err == nil && info.IsDir() {
			name = "folder"
		} else if !leftover(filepath.Base(f.Name()), filepath.Base(path)) {
			t.Errorf("%s of %s, expected a temporary name of %s", what, f.Name(), path)
		}
		*order = append(*order, what+" "+name)
		if what+" "+name == failing {
			return syscall.EIO
		}
		return nil
	}
	return calls{
		write: func(f *os.File, data []byte) error { return errors.Join(note("write", f), real.write(f, data)) },
		sync:  func(f *os.File) error { return errors.Join(note("sync", f), real.sync(f)) },
		rename: func(from, to string) error {
			*order = append(*order, "rename")
			if failing == "rename" {
				return syscall.EIO
			}
			if to != path {
				t.Errorf("renamed to %s, expected %s", to, path)
			}
			return real.rename(from, to)
		},
	}
}

// TestOrder: the content is synced before the rename, and the folder after it. Whichever call fails, the file has one complete content, and no other file
// remains.
func TestOrder(t *testing.T) {
	order := []string{"write temporary", "sync temporary", "rename", "sync folder"}
	for i, failing := range append(order, "nothing") {
		folder := t.TempDir()
		path := filepath.Join(folder, "law")
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		var found []string
		err := recorded(t, path, failing, &found).put(path, []byte("new"))
		if failed := err != nil; failed != (failing != "nothing") {
			t.Errorf("%s fails: %v", failing, err)
		}
		if want := order[:min(i+1, len(order))]; !slices.Equal(found, want) {
			t.Errorf("%s fails: %v, expected %v", failing, found, want)
		}
		content, want := "old", i >= slices.Index(order, "sync folder")
		if want {
			content = "new"
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != content {
			t.Errorf("%s fails: found %q, %v, expected %q", failing, data, err, content)
		}
		if left := names(t, folder); !slices.Equal(left, []string{"law"}) {
			t.Errorf("%s fails: it left %v", failing, left)
		}
	}
}

// TestRename: Rename syncs in the same order for a file that was already complete.
func TestRename(t *testing.T) {
	folder := t.TempDir()
	from, to := filepath.Join(folder, "a"+Suffix), filepath.Join(folder, "a")
	if err := os.WriteFile(from, []byte("rows"), 0o600); err != nil {
		t.Fatal(err)
	}
	var order []string
	before := real
	defer func() { real = before }()
	real.sync = func(f *os.File) error { order = append(order, "sync "+f.Name()); return before.sync(f) }
	real.rename = func(from, to string) error { order = append(order, "rename"); return before.rename(from, to) }
	if err := Rename(from, to); err != nil {
		t.Fatal(err)
	}
	if want := []string{"rename", "sync " + folder}; !slices.Equal(order, want) || !slices.Equal(names(t, folder), []string{"a"}) {
		t.Errorf("%v, expected %v", order, want)
	}
}

// TestSweep removes the leftovers of a killed process. It keeps the file that a running process writes, and files with similar names.
func TestSweep(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "m.onnx")
	dead, kill := begin(t, path)
	kill()
	alive, _ := begin(t, path)
	other, killOther := begin(t, path+".training") // leftover of another file
	killOther()
	const digits = ".0123456789abcdef"
	kept := []string{filepath.Base(alive), filepath.Base(other)}
	for _, name := range []string{"m.onnx", "m.onnx.partial", "m.onnx.backup.partial", "m.onnx" + digits, "m.onnx" + digits + "00.partial", "n.onnx" + digits + ".partial"} {
		kept = append(kept, name)
		if err := os.WriteFile(filepath.Join(folder, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, make := range map[string]func(string) error{
		"m.onnx.000000000000000a.partial": func(p string) error { return os.Mkdir(p, 0o700) },
		"m.onnx.000000000000000b.partial": func(p string) error { return os.Symlink(path, p) },
		"m.onnx.000000000000000c.partial": func(p string) error { return syscall.Mkfifo(p, 0o600) },
	} {
		kept = append(kept, name)
		if err := make(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	removed, err := Sweep(path)
	if err != nil || !slices.Equal(removed, []string{dead}) {
		t.Errorf("removed %v, %v, expected %s", removed, err, dead)
	}
	slices.Sort(kept)
	if found := names(t, folder); !slices.Equal(found, kept) {
		t.Errorf("found %v, expected %v", found, kept)
	}
	if Take(alive) != nil {
		t.Error("a file that a process holds was given")
	}
}

// TestWritable: the error names the requested file instead of the temporary one, and no file remains.
func TestWritable(t *testing.T) {
	folder := t.TempDir()
	if err := Writable(filepath.Join(folder, "law")); err != nil || len(names(t, folder)) != 0 {
		t.Errorf("%v, left %v", err, names(t, folder))
	}
	err := Writable(filepath.Join(folder, "none", "law"))
	if err == nil || strings.Contains(err.Error(), Suffix) || !strings.Contains(err.Error(), "law: cannot create the file: no such file or directory: give a path") {
		t.Errorf("found %v", err)
	}
}

// TestTogether: several processes may write and sweep the same name without disturbing each other.
func TestTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "law")
	failed := make(chan error)
	for i := range 4 {
		go func() {
			var err error
			for range 50 {
				_, swept := Sweep(path)
				err = errors.Join(err, WriteFile(path, []byte{byte(i)}), swept)
			}
			failed <- err
		}()
	}
	for range 4 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	if found := names(t, filepath.Dir(path)); !slices.Equal(found, []string{"law"}) {
		t.Errorf("found %v", found)
	}
}
