//go:build unix

package system

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// OpenShared is os.OpenFile.
func OpenShared(path string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, mode)
}

// OpenOwn opens a file for reading and writing. It refuses a link, and does not wait for the other end of a pipe.
func OpenOwn(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// Hold locks f for this process. It returns ErrHeld if another process holds f and wait is false, or another error if the file system has no locks.
func Hold(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrHeld
		default:
			return err
		}
	}
}

// Unsynced reports that a file system does not sync folders, such as some network drives.
func Unsynced(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}
