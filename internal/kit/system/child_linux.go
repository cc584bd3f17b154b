package system

import "syscall"

// executable returns this program's file, even after its replacement, so that parent and child are the same build.
func executable() (string, error) { return "/proc/self/exe", nil }

// alone ties the child's end to its parent's, and keeps the terminal's Ctrl-C from it: the parent ends it in order.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
