//go:build unix

package doctor

import (
	"os"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeBytes returns the free space for this user below path.
func freeBytes(path string) (free uint64, known bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}

// groupOf returns the name of the group that a file belongs to, or its number.
func groupOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	number := strconv.FormatUint(uint64(s.Gid), 10)
	if g, err := user.LookupGroupId(number); err == nil {
		return g.Name
	}
	return number
}
