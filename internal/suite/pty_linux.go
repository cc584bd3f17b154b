package suite

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenTerminal creates a pseudo-terminal. It returns its near end, which supports deadlines, and the path of the far device. There is no echo; the program that
// opens the device sets its modes.
func OpenTerminal() (here *os.File, device string, err error) {
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", fmt.Errorf("/dev/ptmx: %w: mount devpts", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		unix.Close(fd)
		return nil, "", fmt.Errorf("/dev/ptmx: %w", err)
	}
	return os.NewFile(uintptr(fd), "/dev/ptmx"), fmt.Sprintf("/dev/pts/%d", n), nil
}
