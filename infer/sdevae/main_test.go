package sdevae

import (
	"fmt"
	"os"
	"syscall"
	"testing"
)

// TestMain starts the tests anew with OMP_WAIT_POLICY=PASSIVE, as pretrain does and for the same reason: packages are tested side
// by side, and oneDNN's threads would spin while others want the cores. It fails the suite when a Mat was left open; leakedMats counts
// them under -tags matprofile.
func TestMain(m *testing.M) {
	const policy = "OMP_WAIT_POLICY"
	if self, err := os.Executable(); err == nil && os.Getenv(policy) == "" {
		_ = syscall.Exec(self, os.Args, append(os.Environ(), policy+"=PASSIVE")) // returns only where it failed
	}
	code := m.Run()
	if n := leakedMats(); n != 0 && code == 0 {
		fmt.Fprintf(os.Stderr, "%d Mats were not closed\n", n)
		code = 1
	}
	os.Exit(code)
}

// long skips a test under -short, which make test asks for beside the race detector: there it takes several times as long, and shorter ones
// watch the same goroutines.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long beside the race detector: run without -short")
	}
}
