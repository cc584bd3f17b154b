package batch

import (
	"archive/tar"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"driftscope/ingest/format"
	"driftscope/ingest/timing"
)

// maxFiles is the largest number of files of one film.
const maxFiles = 2_000_000

// sum is the digest that identifies bytes.
type sum struct {
	digest string // SHA-256
	bytes  int64
}

// identity reads the whole film and returns its digest.
func (f *film) identity(ctx context.Context) (sum, error) { return f.write(ctx, io.Discard) }

// write copies a film's bytes, or a tar of its folder, and returns the digest and the number of bytes.
func (f *film) write(ctx context.Context, to io.Writer) (sum, error) {
	h := sha256.New()
	counted := &counter{to: io.MultiWriter(h, to), ctx: ctx}
	var err error
	if f.folder {
		err = f.pack(counted)
	} else {
		err = copyFile(counted, f.path)
	}
	return sum{hex.EncodeToString(h.Sum(nil)), counted.n}, err
}

// counter counts and passes on bytes, until ctx ends.
type counter struct {
	to  io.Writer
	ctx context.Context
	n   int64
}

// Write passes p on.
func (c *counter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

func copyFile(to io.Writer, path string) error {
	file, _, err := format.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(to, file)
	return err
}

// pack writes a tar with only the files' names and bytes, sorted by name, so that the same film gives the same bytes on any machine.
func (f *film) pack(to io.Writer) error {
	names, err := f.files()
	if err != nil {
		return err
	}
	t := tar.NewWriter(to)
	for _, name := range names {
		if err := packFile(t, f.path, name); err != nil {
			return err
		}
	}
	return t.Close()
}

func packFile(t *tar.Writer, folder, name string) error {
	file, size, err := format.Open(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	defer file.Close()
	header := tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Size: size, Mode: 0o644, ModTime: time.Unix(0, 0)}
	if err := t.WriteHeader(&header); err != nil {
		return err
	}
	if _, err := io.CopyN(t, file, size); err != nil {
		return fmt.Errorf("%s: has become shorter than %d bytes: wait until it is no longer written (%w)", file.Name(), size, err)
	}
	return nil
}

// files returns the files of a film's folder: the pictures and their times, or every file if there is an index.
func (f *film) files() (names []string, err error) {
	err = filepath.WalkDir(f.path, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(f.path, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != f.path && (f.kind == "directory" || strings.HasPrefix(e.Name(), ".")):
			return fs.SkipDir
		case e.IsDir(), strings.HasPrefix(e.Name(), ".") && f.kind != "zarr" && f.kind != "recording": // for example the metadata of Zarr
			return nil
		case f.kind == "directory" && !format.IsPicture(path) && name != timing.TimetableName:
			return nil
		}
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
			return err // nil for a link to a folder
		}
		if names = append(names, name); len(names) > maxFiles {
			return fmt.Errorf("%s: more than %d files", f.path, maxFiles)
		}
		return nil
	})
	return names, err // sorted by name
}

// unpack writes the files of a tar into a folder. bytes is the size of the tar.
func unpack(from io.Reader, folder string, bytes int64) error {
	t := tar.NewReader(io.LimitReader(from, bytes))
	for files := 0; ; files++ {
		header, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if name := filepath.FromSlash(header.Name); header.Typeflag != tar.TypeReg || !filepath.IsLocal(name) || files == maxFiles {
			return fmt.Errorf("file %.80q: expected plain files within the film's folder, %d at most", header.Name, maxFiles)
		}
		path := filepath.Join(folder, filepath.FromSlash(header.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := writeFile(path, t); err != nil {
			return err
		}
	}
}

// writeFile writes the content of from to a new file.
func writeFile(path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
