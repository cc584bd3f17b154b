package console

import (
	"errors"
	"io/fs"

	"driftscope/internal/kit/system"
)

// WriteFile writes a whole file to path, and removes leftovers of killed commands.
func WriteFile(path string, data []byte) error {
	Sweep(path)
	return system.WriteFile(path, data)
}

// Sweep removes the leftovers of killed processes that wrote these files, and reports them.
func Sweep(paths ...string) {
	for _, path := range paths {
		removed, err := system.Sweep(path)
		for _, name := range removed {
			Say("removed %s, which a process that was killed had not written to its end", name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			Warn("%s: what killed processes may have left beside it stays: %v", path, err)
		}
	}
}
