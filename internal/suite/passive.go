package suite

import (
	"os"
	"syscall"
)

// PassiveThreads restarts the tests of a package that trains with OMP_WAIT_POLICY=PASSIVE, as pretrain does: packages are tested in parallel,
// and oneDNN's threads would spin while other tests need the cores. It returns if the policy is set, or cannot be set.
func PassiveThreads() {
	const policy = "OMP_WAIT_POLICY"
	if self, err := os.Executable(); err == nil && os.Getenv(policy) == "" {
		_ = syscall.Exec(self, os.Args, append(os.Environ(), policy+"=PASSIVE")) // returns only on failure
	}
}
