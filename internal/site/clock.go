package site

import "time"

var started = time.Now()

// awake reads a clock that stops while the machine is suspended. A process that waits for others then waits longer, which is safe.
func awake() time.Duration { return time.Since(started) }
