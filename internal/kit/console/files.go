package console

import (
	"errors"
	"io/fs"

	"driftscope/internal/kit/system"
)

// WriteFile writes a complete file to path, and removes leftovers of killed commands.
func WriteFile(path string, data []byte) error {
	Sweep(path)
	return system.WriteFile(path, data)
}

// Sweep removes the leftovers of killed processes that wrote these files, and reports them.
func Sweep(paths ...string) {
	for _, path := range paths {
		removed, err := system.Sweep(path)
		for _, name := range removed {
			Say("removed %s, an incomplete file of a process that was killed", name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			Warn("%s: incomplete files of killed processes may remain in its folder: %v", path, err)
		}
	}
}
