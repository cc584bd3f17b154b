package drift

import "sync/atomic"

// Cancel is a flag that stops work whose result is no longer needed. A nil Cancel is never set.
type Cancel struct{ flag atomic.Bool }

// Set asks the work to stop soon.
func (c *Cancel) Set() { c.flag.Store(true) }

// IsSet reports whether the work should stop.
func (c *Cancel) IsSet() bool { return c != nil && c.flag.Load() }
