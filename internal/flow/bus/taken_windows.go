package bus

import "golang.org/x/sys/windows"

// ErrPortTaken is the system's error for a port in use by another program. On Windows, syscall.EADDRINUSE is a different number, which Go invented.
var ErrPortTaken error = windows.WSAEADDRINUSE
