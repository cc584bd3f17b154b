//go:build !linux

package child

import "time"

// monotonic is the wall clock, the one that processes share everywhere.
func monotonic() int64 { return time.Now().UnixNano() }
