//go:build !linux

package system

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// alone returns nil: the child detects the end of its parent by the end of its standard input.
func alone() *syscall.SysProcAttr { return nil }
