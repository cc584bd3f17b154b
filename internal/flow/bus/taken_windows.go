package bus

import "golang.org/x/sys/windows"

// ErrPortTaken is the system's error for a port in use by another program: on Windows, syscall.EADDRINUSE is a number of Go's own.
var ErrPortTaken error = windows.WSAEADDRINUSE
