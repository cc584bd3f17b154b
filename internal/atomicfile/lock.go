package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// errHeld says that a process holds the file.
var errHeld = errors.New("a process holds the file")

// lock takes f for this process: errHeld where another has it and wait is false, another error where the file system knows no locks.
func lock(f *os.File, wait bool) error {
	how := syscall.LOCK_EX
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errHeld
		default:
			return err
		}
	}
}

// open opens what is no link, and waits for no other end of a pipe.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// unsupported says that a file system does not sync folders, as those of some network drives.
func unsupported(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS)
}
