package format

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The supported file extensions, in lower case.
var (
	PictureExtensions = []string{".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff"}
	FitsExtensions    = []string{".fits", ".fit", ".fts"}
	Hdf5Extensions    = []string{".h5", ".hdf5"}
	CziExtensions     = []string{".czi"}
	Nd2Extensions     = []string{".nd2"}
	TiffExtensions    = []string{".tif", ".tiff", ".btf"}
	VideoExtensions   = []string{".mp4", ".mov", ".avi", ".mkv", ".mpg", ".mpeg", ".ts", ".webm", ".m4v"}
)

// Extension returns a path's extension in lower case.
func Extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// IsPicture reports whether a name belongs to a picture. It excludes hidden files, because some systems write companion files such as ._frame_1.png.
func IsPicture(path string) bool {
	return !strings.HasPrefix(filepath.Base(path), ".") && slices.Contains(PictureExtensions, Extension(path))
}

// ListPictures returns the pictures of a folder or a glob in the order of their names, in which frame_10 follows frame_9. folder is the folder in which their
// frames.csv is expected.
func ListPictures(path string) (files []string, folder string, err error) {
	info, err := os.Stat(path)
	whole := err == nil && info.IsDir()
	if whole {
		files, err = listFolder(path)
		folder = path
	} else {
		files, err = filepath.Glob(path)
		folder = filepath.Dir(path)
	}
	if err == nil && len(files) == 0 && !whole {
		err = os.ErrNotExist
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w: give a folder or a pattern such as 'run1/*.tif'", path, err)
	}
	files = slices.DeleteFunc(files, func(file string) bool { return !IsPicture(file) })
	if len(files) == 0 {
		return nil, "", fmt.Errorf("%s holds no picture, at least one file %s expected: give another folder or pattern", path, strings.Join(PictureExtensions, ", "))
	}
	slices.SortFunc(files, Naturally)
	return files, folder, nil
}

func listFolder(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, nil
}

// Naturally compares two names. It compares sequences of digits as numbers: a9 < a10 < b1.
func Naturally(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m > 0 && n > 0 {
			p, q := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
			if d := cmp.Or(cmp.Compare(len(p), len(q)), cmp.Compare(p, q)); d != 0 {
				return d
			}
			x, y = x[m:], y[n:]
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(x[0], y[0])
		}
		x, y = x[1:], y[1:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b))
}

// digits returns the number of digits at the start of s.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
