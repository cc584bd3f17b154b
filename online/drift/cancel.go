package drift

import "sync/atomic"

// Cancel is a flag that stops work whose outcome is no longer used. A nil one is never set.
type Cancel struct{ flag atomic.Bool }

// Set stops the work soon.
func (c *Cancel) Set() { c.flag.Store(true) }

// IsSet says whether the work is to stop.
func (c *Cancel) IsSet() bool { return c != nil && c.flag.Load() }
