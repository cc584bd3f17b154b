package console

import (
	"errors"
	"io/fs"

	"driftscope/internal/kit/system"
)

// WriteFile puts a whole file at path, and removes what a killed command left of it.
func WriteFile(path string, data []byte) error {
	Sweep(path)
	return system.WriteFile(path, data)
}

// Sweep removes what killed processes left of writing these files, and says so.
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
