package bus

import "golang.org/x/sys/windows"

// ErrPortTaken is what the system says of a port that another program has: syscall.EADDRINUSE is a number of Go's own there.
var ErrPortTaken error = windows.WSAEADDRINUSE
