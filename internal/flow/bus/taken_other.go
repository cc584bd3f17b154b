//go:build !windows

package bus

import "syscall"

// ErrPortTaken is the system's error for a port in use by another program.
var ErrPortTaken error = syscall.EADDRINUSE
