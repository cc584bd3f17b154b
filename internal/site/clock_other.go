//go:build !linux

package site

import "time"

// elapsed is Go's monotonic clock. On systems where that stands while the machine is suspended, a worker finds out with its next renewal.
func elapsed() time.Duration { return awake() }
