package reach

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// resolved returns a path without links and dots. It does not change parts that do not exist yet. A relative path starts in folder.
func resolved(folder, path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	return withoutLinks(filepath.Clean(path))
}

// withoutLinks follows the links in the existing part of a clean path.
func withoutLinks(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a link to a missing file", path)
	}
	above := filepath.Dir(path)
	if above == path {
		return "", err
	}
	if above, err = withoutLinks(above); err != nil {
		return "", err
	}
	return filepath.Join(above, filepath.Base(path)), nil
}

// within reports whether a resolved path is folder or lies in it.
func within(folder, path string) bool {
	inside, err := filepath.Rel(folder, path)
	return err == nil && inside != ".." && !strings.HasPrefix(inside, ".."+string(filepath.Separator))
}
