package system

import "syscall"

// executable is this program's file, also after another was put in its place: parent and child stay of one build.
func executable() (string, error) { return "/proc/self/exe", nil }

// alone has a child end with its parent, and keeps the terminal's Ctrl-C from it: the parent ends it in order.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
