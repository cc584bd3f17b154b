//go:build !linux

package system

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// alone: the end of its standard input tells the child that its parent has gone.
func alone() *syscall.SysProcAttr { return nil }
