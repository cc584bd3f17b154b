package suite

import (
	"os"
	"path/filepath"
	"testing"

	"driftscope/internal/kit/system"
)

// Content reads a file of a folder.
func Content(t testing.TB, folder, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// LeaveUnfinished creates the leftover of a process that was killed while it wrote path.
func LeaveUnfinished(t testing.TB, path string) {
	t.Helper()
	f, err := system.Create(path+".00112233445566ff"+system.Suffix, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f.Close() // releases the lock
}

// Stdout returns what do prints on standard output. No parallel test may print there.
func Stdout(t testing.TB, do func() error) ([]byte, error) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := os.Stdout
	os.Stdout = file
	failed := do()
	os.Stdout = before
	printed, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return printed, failed
}
