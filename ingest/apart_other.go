//go:build !linux

package ingest

import (
	"os"
	"syscall"
	"time"
)

func executable() (string, error) { return os.Executable() }

// alone: the end of its standard input tells the child that its parent has gone.
func alone() *syscall.SysProcAttr { return nil }

// monotonic is the wall clock, the one that processes share everywhere.
func monotonic() int64 { return time.Now().UnixNano() }
