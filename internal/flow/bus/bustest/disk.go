package bustest

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// SmallDisk mounts a disk of size bytes until the test ends, and returns its folder. It skips the test if this user may not mount a disk.
func SmallDisk(t testing.TB, size int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", size))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skip("a small disk cannot be mounted: run the test as root")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder
}
