package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// folder is a folder that runs write to.
type folder struct{ path, use string }

// leastFree is the free space below which a disk counts as small: a minute of 8-bit megapixel pictures at 30 per second is 1.9 GB.
const leastFree = 2 << 30

// runFolders returns the folders of a run without flags, and dir.
func runFolders(dir string) []folder {
	all := []folder{{dir, "results and models"}, {os.TempDir(), "temporary files"}}
	if cache, err := os.UserCacheDir(); err == nil { // driftscope work stores its streams' state there
		all = append(all, folder{filepath.Join(cache, "driftscope"), "a worker's state"})
	}
	return all
}

// folders writes a file in each folder and reads its free space.
func folders(_ context.Context, m machine) []Finding {
	all := make([]Finding, 0, len(m.folders))
	for _, f := range m.folders {
		all = append(all, f.look())
	}
	return all
}

func (f folder) look() Finding {
	there := f.path
	for { // a missing folder is made in its parent
		if _, err := os.Stat(there); !errors.Is(err, os.ErrNotExist) || filepath.Dir(there) == there {
			break
		}
		there = filepath.Dir(there)
	}
	found := Finding{Check: "folders", Grade: Good, Page: "docs/howto/install.md"}
	if err := tryWriting(there); err != nil {
		found.Grade, found.Found = Bad, fmt.Sprintf("%s, for %s, cannot be written to: %v", f.path, f.use, err)
		found.Mend = fmt.Sprintf("sudo chown \"$USER\" %s, or work in another folder", there)
		return found
	}
	free, known := freeBytes(there)
	if !known {
		found.Found = fmt.Sprintf("%s, for %s, can be written to", f.path, f.use)
		return found
	}
	found.Found = fmt.Sprintf("%s, for %s, can be written to; %.1f GB free", f.path, f.use, float64(free)/1e9)
	if free < leastFree {
		found.Grade, found.Mend = Note, "df -h "+there+" shows the disks; give --out and --record paths on another disk"
	}
	return found
}

// tryWriting makes a folder with a file at path, and removes both.
func tryWriting(path string) (err error) {
	probe, err := os.MkdirTemp(path, ".driftscope-doctor-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(probe)) }()
	file, err := os.Create(filepath.Join(probe, "probe"))
	if err != nil {
		return err
	}
	_, err = file.Write([]byte("driftscope doctor was here"))
	return errors.Join(err, file.Close())
}
