//go:build !linux

package system

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// alone returns nil: the end of its standard input tells the child that its parent has ended.
func alone() *syscall.SysProcAttr { return nil }
