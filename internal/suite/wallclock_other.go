//go:build !(linux && amd64)

package suite

import (
	"errors"
	"time"
)

// StepClock returns an error: the machine code that it writes is for Linux on amd64.
func StepClock(int, time.Duration) error {
	return errors.New("wall clocks can only be set on Linux on amd64: leave the fault out")
}
