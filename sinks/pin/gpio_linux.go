package pin

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Flags of a request, from linux/gpio.h. golang.org/x/sys/unix has its structs and ioctls.
const (
	flagActiveLow = 1 << 1 // GPIO_V2_LINE_FLAG_ACTIVE_LOW
	flagOutput    = 1 << 3 // GPIO_V2_LINE_FLAG_OUTPUT
)

// chip is the kernel's interface to a GPIO chip. Tests replace it.
type chip interface {
	open(path string) (fd int, err error)
	request(fd int, r *unix.GPIOV2LineRequest) error // fills r.Fd
	set(fd int, v *unix.GPIOV2LineValues) error
	close(fd int) error
}

// kernel calls the kernel.
type kernel struct{}

func (kernel) open(path string) (int, error) {
	return unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
}

func (kernel) request(fd int, r *unix.GPIOV2LineRequest) error {
	return ioctl(fd, unix.GPIO_V2_GET_LINE_IOCTL, unsafe.Pointer(r))
}

func (kernel) set(fd int, v *unix.GPIOV2LineValues) error {
	return ioctl(fd, unix.GPIO_V2_LINE_SET_VALUES_IOCTL, unsafe.Pointer(v))
}

func (kernel) close(fd int) error { return unix.Close(fd) }

func ioctl(fd int, request uintptr, argument unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(argument)); errno != 0 {
		return errno
	}
	return nil
}

// lines are the outputs that this program holds.
type lines struct {
	chip chip
	fd   int
	bit  map[string]uint // index of the line in the request, by rule
}

// openLines requests the lines as outputs that are off. The file of the chip is not needed afterwards.
func openLines(o *gpioOptions, c chip) (device, error) {
	fd, err := c.open(o.Chip)
	switch {
	case errors.Is(err, unix.EACCES):
		return nil, fmt.Errorf("chip: %s: %w: add this user to the group of the device, usually gpio, or set its group with a udev rule", o.Chip, err)
	case err != nil:
		return nil, fmt.Errorf("chip: %s: %w: gpiodetect lists the chips of this machine", o.Chip, err)
	}
	defer c.close(fd)
	l := &lines{chip: c, bit: map[string]uint{}}
	r := unix.GPIOV2LineRequest{Num_lines: uint32(len(o.Lines))}
	r.Config.Flags = flagOutput
	if o.ActiveLow {
		r.Config.Flags |= flagActiveLow
	}
	// Without an attribute for initial values the kernel sets outputs to 0, which means off for both polarities.
	copy(r.Consumer[:], "driftscope")
	for i, rule := range named(o.Lines) {
		l.bit[rule] = uint(i)
		r.Offsets[i] = uint32(o.Lines[rule])
	}
	if err := c.request(fd, &r); errors.Is(err, unix.EBUSY) {
		return nil, fmt.Errorf("chip: %s: another program uses one of the lines %v: gpioinfo names it", o.Chip, o.Lines)
	} else if err != nil {
		return nil, fmt.Errorf("chip: %s: lines %v: %w: GPIO needs Linux 5.10 or newer, and lines that can be outputs", o.Chip, o.Lines, err)
	}
	l.fd = int(r.Fd)
	return l, nil
}

func (l *lines) set(o *request) error {
	bit := l.bit[o.rule]
	return l.chip.set(l.fd, &unix.GPIOV2LineValues{Bits: uint64(index(o.on)) << bit, Mask: 1 << bit})
}

// Close releases the lines. Most chips keep the last state.
func (l *lines) Close() error { return l.chip.close(l.fd) }
