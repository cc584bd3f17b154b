package system

import "syscall"

// executable returns the file of the running program, even if the file on the disk was replaced. So parent and child are the same build.
func executable() (string, error) { return "/proc/self/exe", nil }

// alone makes the child end with its parent, and keeps the terminal's Ctrl-C from the child, because the parent ends it in order.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
