package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"driftscope/internal/kit/system"
)

// emptyParquet is the length of a Parquet file without rows.
const emptyParquet = int64(len("PAR1"))

// adopt handles the files of a killed run, in formats that are readable only when complete. It removes a file without rows. A file with rows gets the suffix
// tornSuffix; adopt never deletes results. It does not touch the file of a running run.
func (r *recording) adopt() error {
	if r.finish == nil {
		return nil
	}
	used, err := r.rotation.used()
	if err != nil {
		return err
	}
	var left []string
	for _, table := range r.rotation.tables {
		left = append(left, r.rotation.name(table)+partial)
	}
	for _, f := range used {
		if r.rotation.number = max(r.rotation.number, f.number); strings.HasSuffix(f.path, partial) { // the numbers of removed files count, too
			left = append(left, f.path)
		}
	}
	if !r.rotation.options.rotates() {
		r.rotation.number = 0
	}
	var removed []string
	for _, path := range left {
		gone, err := r.adoptOne(path)
		if err != nil {
			return fmt.Errorf("%s: an earlier run was killed while writing it: %w", path, err)
		}
		if gone {
			removed = append(removed, path)
		}
	}
	if len(removed) > 0 {
		r.rotation.log.Warn("removed an empty file of a killed run", "files", len(removed), "first", slices.Min(removed))
	}
	return nil
}

// adoptOne handles one file, and reports whether it removed the file.
func (r *recording) adoptOne(path string) (removed bool, err error) {
	f := system.Take(path)
	if f == nil {
		return false, nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() <= emptyParquet {
		return true, os.Remove(path)
	}
	name := strings.TrimSuffix(path, partial) + tornSuffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			break
		}
		name = fmt.Sprintf("%s%s.%d", strings.TrimSuffix(path, partial), tornSuffix, n)
	}
	if err := system.Rename(path, name); err != nil {
		return false, err
	}
	r.rotation.log.Warn("a killed run left an incomplete file: its rows are kept, but readers need the missing footer", "file", name, "bytes", info.Size())
	return false, nil
}
