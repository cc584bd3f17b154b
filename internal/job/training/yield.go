package training

import (
	"os"
	"syscall"
)

// YieldCores starts the program again with OMP_WAIT_POLICY=PASSIVE, unless the user has set a policy. oneDNN's threads wait for each other many times per step.
// By default they spin, so on a busy machine training takes three times as long. The OpenMP runtime reads the variable when it is loaded, which is before main.
func YieldCores() error {
	const policy = "OMP_WAIT_POLICY"
	if os.Getenv(policy) != "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, append(os.Environ(), policy+"=PASSIVE"))
}
