package soak

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"driftscope/internal/suite"
)

// isolated is the environment variable of the process with its own network and mounts.
const isolated = "DRIFTSCOPE_SOAK_ISOLATED"

// isolate starts this program again with its own network and mounts, if permitted. Then ports and simulated cameras cannot collide with other programs, and
// mounts end with the process. Aravis needs a process without raw sockets.
func isolate() error {
	if os.Getenv(isolated) == "" && os.Geteuid() == 0 {
		return inNamespaces()
	}
	if os.Getenv(isolated) != "" {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("the loopback interface: %w", err)
		}
	}
	return suite.WithoutRawSockets()
}

// inNamespaces runs this program in its own namespaces and ends with its status. The child has its own process group, so it gets the terminal's signals only
// once, from here.
func inNamespaces() error {
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), isolated+"=1")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWNS, Pdeathsig: syscall.SIGTERM, Setpgid: true}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	runtime.LockOSThread() // the child gets its signal when the thread that started it ends
	if err := c.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "soak: no network of its own:", err)
		return suite.WithoutRawSockets()
	}
	go func() {
		for s := range signals {
			c.Process.Signal(s)
		}
	}()
	err := c.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		os.Exit(max(exit.ExitCode(), 1))
	}
	if err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// loopbackUp turns on the interface lo, which is off in a new network.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var request struct {
		name  [unix.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	request.flags = unix.IFF_UP | unix.IFF_RUNNING
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}

// smallDisk mounts a disk of the given size, bytes, on folder. It returns false if the user is not allowed to.
func smallDisk(folder string, size int) bool {
	if os.Getenv(isolated) == "" {
		return false // the mount would outlive this process
	}
	if unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") != nil {
		return false
	}
	return unix.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size)) == nil
}
