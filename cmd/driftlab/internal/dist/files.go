package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/internal/kit/system"
)

// file is one file of an archive or a package.
type file struct {
	path string // relative, with slashes
	mode fs.FileMode
	data []byte
}

// shipped lists the parts of the repository that are shipped with the program. They have the same paths, so links between pages work.
var shipped = []string{"README.md", "LICENSE", "CHANGELOG.md", "docs", "configs", "internal/job/demo/beads.txt"}

// repository reads the shipped parts that git tracks; other files in the folders are ignored.
func repository(root string) ([]file, error) {
	list := exec.Command("git", append([]string{"ls-files", "-z", "--"}, shipped...)...)
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w: make dist needs the repository", err)
	}
	var files []file
	for _, path := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
		if err != nil {
			return nil, err
		}
		mode := fs.FileMode(0o644)
		if strings.HasSuffix(path, ".sh") {
			mode = 0o755
		}
		files = append(files, file{path, mode, data})
	}
	return files, nil
}

// below returns files under a folder, sorted by path.
func below(folder string, files []file) []file {
	moved := make([]file, len(files))
	for i, f := range files {
		moved[i] = file{folder + "/" + f.path, f.mode, f.data}
	}
	slices.SortFunc(moved, func(a, b file) int { return cmp.Compare(a.path, b.path) })
	return moved
}

// packed compresses data like gzip -n, without name and time.
func packed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// write writes a file that everyone may read.
func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := system.WriteFile(path, data); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}

// sums writes SHA256SUMS, in the format of sha256sum -c, for the files names in a folder.
func sums(folder string, names []string) error {
	slices.Sort(names)
	var text strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), name)
	}
	return write(filepath.Join(folder, "SHA256SUMS"), []byte(text.String()))
}
