//go:build !windows

package bus

import "syscall"

// ErrPortTaken is what the system says of a port that another program has.
var ErrPortTaken error = syscall.EADDRINUSE
