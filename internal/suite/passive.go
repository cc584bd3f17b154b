package suite

import (
	"os"
	"syscall"
)

// PassiveThreads starts the tests of a package that trains anew with OMP_WAIT_POLICY=PASSIVE, as pretrain does: packages are tested side by side,
// and oneDNN's threads would spin while others want the cores. It returns where the policy is set, or cannot be.
func PassiveThreads() {
	const policy = "OMP_WAIT_POLICY"
	if self, err := os.Executable(); err == nil && os.Getenv(policy) == "" {
		_ = syscall.Exec(self, os.Args, append(os.Environ(), policy+"=PASSIVE")) // returns only where it failed
	}
}
