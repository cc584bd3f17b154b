//go:build cgo

package infer

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// confine limits the further memory and processor time of this process. Beyond the memory limit OpenCV returns an error, or the Go runtime ends the process.
// Beyond the time limit the operating system ends the process.
func confine() error {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Sscan(string(text), &pages); err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	for kind, limit := range map[int]uint64{
		unix.RLIMIT_AS:   pages*uint64(os.Getpagesize()) + trialMemory,
		unix.RLIMIT_CPU:  trialCPU,
		unix.RLIMIT_CORE: 0,
	} {
		if err := unix.Setrlimit(kind, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("set the limits of the trial process: %w", err)
		}
	}
	return nil
}
