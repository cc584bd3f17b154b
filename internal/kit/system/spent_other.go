//go:build !linux

package system

import "time"

// start is when the program began, by a clock that never goes back.
var start = time.Now()

// spent is the time that has passed: a thread's own is known on Linux alone. So a job's rest is longer than its processor time asks for.
func spent() time.Duration { return time.Since(start) }
