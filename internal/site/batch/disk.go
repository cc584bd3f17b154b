//go:build cgo

package batch

import (
	"errors"
	"fmt"
	"syscall"
)

// spare is the disk space that a worker leaves free for other programs.
const spare = 256 << 20

// errNoRoom reports a full disk. It does not count as an attempt at the film.
var errNoRoom = errors.New("the disk has no room for it")

// room returns an error if that many bytes would fill the folder's disk.
func room(folder string, bytes int64) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	if free := int64(s.Bavail) * int64(s.Bsize); bytes > free-spare {
		return fmt.Errorf("%s: %d MiB are free, but %d and a reserve of %d are needed: %w: free some space, or give --temp on another disk", folder, free>>20, bytes>>20, spare>>20, errNoRoom)
	}
	return nil
}
