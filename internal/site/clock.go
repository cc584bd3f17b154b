package site

import "time"

var started = time.Now()

// awake is time by the clock that stands while the machine is suspended: who waits for others waits rather longer.
func awake() time.Duration { return time.Since(started) }
