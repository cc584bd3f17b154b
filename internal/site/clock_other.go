//go:build !linux

package site

import "time"

// elapsed is Go's monotonic clock. On systems where that clock stops while the machine sleeps, a worker notices with its next renewal.
func elapsed() time.Duration { return awake() }
