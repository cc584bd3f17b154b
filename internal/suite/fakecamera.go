package suite

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// CameraRequired is the environment variable that makes a test fail, instead of skip, if a program is missing.
const CameraRequired = "DRIFTSCOPE_TEST_TOOLS"

// program is the simulated camera of Debian's aravis-tools.
const program = "arv-fake-gv-camera-0.8"

// CameraName is Aravis' name of the camera: maker, model and serial number.
const CameraName = "Aravis-Fake-" + serial

const serial = "DRIFT01"

// CameraPixels is the number of grey values: at the default exposure and gain, Mono8, pixel (x, y) of frame n is (x+y+n) modulo CameraPixels.
const CameraPixels = 255

// Camera is a camera that can be unplugged.
type Camera struct {
	t       testing.TB
	args    []string
	process *exec.Cmd
}

// StartCamera starts a camera; arguments are appended to its address and serial number. A machine can run only one camera at a time, so StartCamera waits for
// the cameras of other tests.
func StartCamera(t testing.TB, args ...string) *Camera {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if os.Getenv(CameraRequired) != "" {
			t.Fatalf("%s is not installed: ./internal/setup/install.sh tests installs it", program)
		}
		t.Skipf("%s is not installed: ./internal/setup/install.sh tests installs it", program)
	}
	alone(t)
	c := &Camera{t: t, args: append([]string{path, "-i", "127.0.0.1", "-s", serial}, args...)}
	c.Plug()
	t.Cleanup(c.Unplug)
	return c
}

// alone locks the camera until this test ends.
func alone(t testing.TB) {
	t.Helper()
	lock, err := ReserveCamera()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
}

// ReserveCamera takes the lock that all users of a camera on this machine share, because the protocol has only one port. Closing the result releases the lock.
func ReserveCamera() (io.Closer, error) {
	lock, err := os.OpenFile(filepath.Join(os.TempDir(), "driftscope-fake-camera.lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// Plug starts the camera's process.
func (c *Camera) Plug() {
	c.t.Helper()
	c.process = exec.Command(c.args[0], c.args[1:]...)
	c.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.process.Start(); err != nil {
		c.t.Fatal(err)
	}
	for range 500 {
		if listens() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	c.t.Fatalf("%s does not listen after 10 s", program)
}

// listens reports whether the camera's control port, 3956 on 127.0.0.1, is in the kernel's list of sockets.
func listens() bool {
	sockets, err := os.ReadFile("/proc/net/udp")
	return err == nil && strings.Contains(string(sockets), " 0100007F:0F74 ")
}

// Unplug kills the camera at once.
func (c *Camera) Unplug() {
	if c.process != nil {
		c.process.Process.Kill()
		c.process.Wait()
		c.process = nil
	}
}

// WithoutRawSockets restarts this process without the capability CAP_NET_RAW, if present. With it Aravis listens below the network
// stack, where loopback traffic does not pass. A process that reads the camera calls it before anything else.
func WithoutRawSockets() error {
	if !mayOpenRawSockets() {
		return nil
	}
	runtime.LockOSThread() // until the exec, the bounding set belongs to the thread
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_NET_RAW, 0, 0, 0); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
}

// mayOpenRawSockets reads the effective capabilities.
func mayOpenRawSockets() bool {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return false
	}
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if mask, found := strings.CutPrefix(lines.Text(), "CapEff:"); found {
			bits, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && bits>>unix.CAP_NET_RAW&1 == 1
		}
	}
	return false
}
