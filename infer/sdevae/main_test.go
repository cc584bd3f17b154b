package sdevae

import (
	"os"
	"syscall"
	"testing"

	"driftscope/internal/suite/mats"
)

// TestMain starts the tests anew with OMP_WAIT_POLICY=PASSIVE, as pretrain does and for the same reason: packages are tested side
// by side, and oneDNN's threads would spin while others want the cores.
func TestMain(m *testing.M) {
	const policy = "OMP_WAIT_POLICY"
	if self, err := os.Executable(); err == nil && os.Getenv(policy) == "" {
		_ = syscall.Exec(self, os.Args, append(os.Environ(), policy+"=PASSIVE")) // returns only where it failed
	}
	mats.Main(m)
}
