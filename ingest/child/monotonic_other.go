//go:build !linux

package child

import "time"

// monotonic returns the wall clock, which processes share on every system.
func monotonic() int64 { return time.Now().UnixNano() }
