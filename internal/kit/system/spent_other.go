//go:build !linux

package system

import "time"

// start is the start of the program, by the monotonic clock.
var start = time.Now()

// spent returns the elapsed time, because only Linux reports the processor time of a thread. A job therefore rests longer than its processor time requires.
func spent() time.Duration { return time.Since(start) }
