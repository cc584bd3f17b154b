package suite

import (
	"os"
	"syscall"
)

// PassiveThreads restarts the test process with OMP_WAIT_POLICY=PASSIVE, as pretrain does. Packages that train need it: they are tested in parallel with
// others, and oneDNN's threads would spin while other tests need the cores. It returns if the policy is already set, or cannot be set.
func PassiveThreads() {
	const policy = "OMP_WAIT_POLICY"
	if self, err := os.Executable(); err == nil && os.Getenv(policy) == "" {
		_ = syscall.Exec(self, os.Args, append(os.Environ(), policy+"=PASSIVE")) // returns only on failure
	}
}
