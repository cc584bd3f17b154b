// Package console tells the user of a command what it does, on standard error, a line each, and writes whole files as commands do.
package console

import (
	"fmt"
	"os"
)

// Say tells the user something on standard error, in one line.
func Say(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

// Warn is Say for what may spoil what comes.
func Warn(format string, args ...any) { fmt.Fprintf(os.Stderr, "warning: "+format+"\n", args...) }
