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

// Unwrap returns the original error.
func (a absent) Unwrap() error { return a.error }

// Absent marks err as an error about a path that does not exist. Report adds the name of a similar file.
func Absent(path string, err error) error { return absent{err, path} }

// missing returns the missing path to which an error refers, or "".
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

// Limits of near: number of names to compare, and bytes of a name.
const (
	mostNames = 10_000
	mostName  = 255
)

// near returns the file in the folder of a missing path whose name is most similar, or "". The names may differ by at most two edits, and by at most a third of
// the name without its extension.
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

// edits returns the smallest number of edits that turn a into b: inserted, deleted and replaced bytes, and exchanged neighbours (Damerau, CACM 7, 171, 1964;
// the restricted distance).
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
