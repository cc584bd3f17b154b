package file

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits on the rotation of files.
const (
	leastRotation = time.Second
	mostRotation  = 30 * 24 * time.Hour
	mostMegabytes = 1e6
	mostKept      = 1e6
)

// fileOptions holds the keys of every sink that writes files.
type fileOptions struct {
	Path        string        `yaml:"path" reaches:"write"`
	RotateMB    float64       `yaml:"rotate_mb"`    // size at which the next file starts, 10^6 bytes; 0: no limit
	RotateEvery time.Duration `yaml:"rotate_every"` // age at which the next file starts; 0: no limit
	Keep        int           `yaml:"keep"`         // number of newest files to keep; 0: all
}

// check returns an error that names the invalid key.
func (o *fileOptions) check(example string) error {
	switch {
	case o.Path == "":
		return fmt.Errorf("path is missing: give the file to write, such as %s", example)
	case o.RotateMB < 0 || o.RotateMB > mostMegabytes:
		return fmt.Errorf("rotate_mb: found %g, expected more than 0 and at most %g, or 0 for files of any size", o.RotateMB, float64(mostMegabytes))
	case o.RotateEvery != 0 && (o.RotateEvery < leastRotation || o.RotateEvery > mostRotation):
		return fmt.Errorf("rotate_every: found %v, expected %v to %v, or 0s for one file", o.RotateEvery, leastRotation, mostRotation)
	case o.Keep < 0 || o.Keep > mostKept:
		return fmt.Errorf("keep: found %d, expected 1 to %d files, or 0 for all", o.Keep, int(mostKept))
	case o.Keep > 0 && !o.rotates():
		return errors.New("keep: only for numbered files: give rotate_mb or rotate_every too")
	}
	return nil
}

// rotates reports whether the recording has several files, numbered from 1.
func (o *fileOptions) rotates() bool { return o.RotateMB > 0 || o.RotateEvery > 0 }

// rotation names successive files so that their names sort: results-00001.jsonl, results-00002.jsonl; with several tables,
// results-00001.latent.csv, results-00001.sde.csv. It never uses a number twice.
type rotation struct {
	options fileOptions
	tables  []string  // "" if a file has no tables
	number  int       // number of the present files; 0: none yet
	deleted int       // files deleted so far
	logged  int       // deleted files that the log has reported
	last    time.Time // time of the last log entry
	log     *slog.Logger
}

// name returns the present file name of a table.
func (r *rotation) name(table string) string {
	ext := filepath.Ext(r.options.Path)
	name := strings.TrimSuffix(r.options.Path, ext)
	if r.number > 0 {
		name += fmt.Sprintf("-%05d", r.number)
	}
	if table != "" {
		name += "." + table
	}
	return name + ext
}

// next returns the number after the highest number that any run has used.
func (r *rotation) next() error {
	used, err := r.used()
	if err != nil {
		return err
	}
	for _, f := range used {
		r.number = max(r.number, f.number)
	}
	r.number++
	return nil
}

// numbered is a numbered file of this path.
type numbered struct {
	path   string
	number int
}

// used returns the numbered files, complete or not.
func (r *rotation) used() ([]numbered, error) {
	ext, folder := filepath.Ext(r.options.Path), filepath.Dir(r.options.Path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var files []numbered
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), strings.TrimSuffix(filepath.Base(r.options.Path), ext)+"-")
		digits, ok2 := strings.CutSuffix(strings.TrimSuffix(strings.TrimSuffix(rest, partial), tornSuffix), ext)
		digits, table, _ := strings.Cut(digits, ".")
		number, err := strconv.Atoi(digits)
		if ok && ok2 && err == nil && number > 0 && len(digits) >= 5 && slices.Contains(r.tables, table) {
			files = append(files, numbered{filepath.Join(folder, e.Name()), number})
		}
	}
	return files, nil
}

// prune deletes all but the newest files, as many as keep allows. It logs this at most once a second.
func (r *rotation) prune() {
	if r.options.Keep == 0 {
		return
	}
	used, err := r.used()
	var numbers []int
	for _, f := range used {
		numbers = append(numbers, f.number)
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	deleted := 0
	for _, f := range used {
		if slices.Index(numbers, f.number) >= len(numbers)-r.options.Keep {
			continue
		}
		if removed := os.Remove(f.path); removed != nil {
			err = errors.Join(err, removed)
			continue
		}
		deleted++
	}
	r.deleted += deleted
	if time.Since(r.last) < time.Second { // small files are soon full
		return
	}
	if r.deleted > r.logged {
		r.last = time.Now()
		r.log.Warn("old recordings deleted", "files", r.deleted-r.logged, "in_all", r.deleted, "keep", r.options.Keep, "path", r.options.Path)
		r.logged = r.deleted
	}
	if err != nil {
		r.last = time.Now()
		r.log.Warn("old recordings not deleted", "err", err)
	}
}
