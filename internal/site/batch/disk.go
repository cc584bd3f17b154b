//go:build cgo

package batch

import (
	"errors"
	"fmt"
	"syscall"
)

// spare is what a worker leaves free on its disk: others write there, too.
const spare = 256 << 20

// errNoRoom says that the film is not at fault.
var errNoRoom = errors.New("the disk has no room for it")

// room refuses to write so many bytes into a folder whose disk would be full.
func room(folder string, bytes int64) error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(folder, &s); err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	if free := int64(s.Bavail) * int64(s.Bsize); bytes > free-spare {
		return fmt.Errorf("%s: %d MiB are free, %d and %d to spare are needed: %w: make some, or give --temp with another disk", folder, free>>20, bytes>>20, spare>>20, errNoRoom)
	}
	return nil
}
