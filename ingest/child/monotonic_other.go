//go:build !linux

package child

import "time"

// monotonic returns the wall clock in nanoseconds, because all systems share it between processes.
func monotonic() int64 { return time.Now().UnixNano() }
