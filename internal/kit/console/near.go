package console

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// absent is an error about a path that does not exist.
type absent struct {
	error
	path string
}

// Unwrap returns the error itself.
func (a absent) Unwrap() error { return a.error }

// Absent returns err, with the path that does not exist: Report adds the name of a file that is like it.
func Absent(path string, err error) error { return absent{err, path} }

// missing returns the path that an error is about if it does not exist, or nothing.
func missing(err error) string {
	var a absent
	var at *fs.PathError
	switch {
	case errors.As(err, &a):
		return a.path
	case errors.As(err, &at) && errors.Is(at, fs.ErrNotExist):
		return at.Path
	}
	return ""
}

// Bounds of near: names that it compares, and bytes of a name.
const (
	mostNames = 10_000
	mostName  = 255
)

// near returns the file beside a missing path whose name differs least, by at most two edits and a third of the name before its ending, or nothing.
func near(path string) string {
	folder, name := filepath.Split(path)
	if name == "" || len(name) > mostName {
		return ""
	}
	open, err := os.Open(filepath.Clean(folder + "."))
	if err != nil {
		return ""
	}
	defer open.Close()
	entries, _ := open.ReadDir(mostNames)
	best, least := "", min(2, len(strings.TrimSuffix(name, filepath.Ext(name)))/3)+1
	for _, e := range entries {
		if d := edits(name, e.Name()); d < least {
			best, least = filepath.Join(folder, e.Name()), d
		}
	}
	return best
}

// edits returns the fewest inserted, deleted, replaced and exchanged neighbouring bytes that turn a into b (Damerau, CACM 7, 171, 1964; the
// restricted distance).
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
