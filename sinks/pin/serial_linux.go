package pin

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openSerial opens a serial device for the exclusive use of this program: raw, 8 bits, no parity, one stop bit, no flow control, ignoring modem lines. The file
// never blocks, and supports deadlines.
func openSerial(path string, baud int) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.EACCES):
		return nil, fmt.Errorf("device: %s: %w: add this user to the group that owns it, usually dialout (sudo adduser $USER dialout), and log in again", path, err)
	case err != nil:
		return nil, fmt.Errorf("device: %s: %w: is it plugged in? ls /dev/serial/by-id lists the devices", path, err)
	}
	if err := raw(fd, baud); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("device: %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// raw locks the device for this program and sets the line parameters.
func raw(fd, baud int) error {
	if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errors.New("the device is in use by another program, or by another sink of this program: stop that program, or give all rules of the device to one sink")
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS2)
	if err != nil {
		return fmt.Errorf("is not a serial device: %w", err)
	}
	t.Iflag, t.Oflag, t.Lflag = unix.IGNBRK|unix.IGNPAR, 0, 0
	t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.BOTHER // without HUPCL, so closing does not reset a board
	t.Ispeed, t.Ospeed = uint32(baud), uint32(baud)
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS2, t); err != nil {
		return fmt.Errorf("does not support %d baud, 8N1: %w", baud, err)
	}
	if t, err = unix.IoctlGetTermios(fd, unix.TCGETS2); err != nil {
		return err
	}
	if got := int(t.Ospeed); got < baud-baud/50 || got > baud+baud/50 { // receivers tolerate 2 % and more
		return fmt.Errorf("baud: asked for %d, but the device set %d: give a rate that the device supports", baud, got)
	}
	return nil
}

// closeSerial closes the device after its driver's buffer was sent or dropped. Otherwise the driver would wait half a minute for an unplugged board.
func closeSerial(port *os.File) error {
	if c, err := port.SyscallConn(); err == nil {
		c.Control(func(fd uintptr) { drain(int(fd)) })
	}
	return port.Close()
}

// drain waits until the driver has sent its buffer, at most for the time limit writing, and drops the rest.
func drain(fd int) {
	for end := time.Now().Add(writing); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if n, err := unix.IoctlGetInt(fd, unix.TIOCOUTQ); err != nil || n == 0 {
			return
		}
	}
	unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH) // the device is closed next, so an error changes nothing
}
