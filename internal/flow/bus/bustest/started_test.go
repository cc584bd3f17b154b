package bustest

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFreePort: two servers get different ports before either listens, and the end of a test releases its ports.
func TestFreePort(t *testing.T) {
	var first int
	t.Run("first", func(t *testing.T) {
		first = FreePort(t)
		if second := FreePort(t); second == first {
			t.Errorf("found ports %d and %d", first, second)
		}
	})
	if again := FreePort(t); again != first {
		t.Errorf("found port %d, expected %d, which is free again", again, first)
	}
}

// TestStarted: started waits for a program whose file is open for writing, but not for a missing program.
func TestStarted(t *testing.T) {
	program := filepath.Join(t.TempDir(), "true")
	text, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, text, 0o755); err != nil {
		t.Fatal(err)
	}
	open, err := os.OpenFile(program, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { open.Close() })
	process, err := started(program, nil)
	if err == nil {
		err = process.Wait()
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := started(program+"-not", nil); !os.IsNotExist(err) {
		t.Errorf("a program that is not there: %v", err)
	}
}
