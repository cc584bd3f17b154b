package tiff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shades returns a picture whose bytes depend on k.
func shades(width, height, channels int, depth Depth, k int) *Image {
	img := &Image{Width: width, Height: height, Channels: channels, Depth: depth, Pix: make([]byte, width*height*channels*depth.Bytes())}
	for i := range img.Pix {
		img.Pix[i] = byte(i*13 + k)
	}
	return img
}

// writePages writes pages to a new file.
func writePages(t *testing.T, pages ...*Image) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "a.tif"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	w, err := NewWriter(file)
	if err != nil {
		t.Fatal(err)
	}
	size := w.Size()
	for _, page := range pages {
		if err := w.Append(page); err != nil {
			t.Fatal(err)
		}
		if size += Stored(page); w.Size() != size {
			t.Fatalf("%d bytes, %d announced", w.Size(), size)
		}
	}
	return file.Name()
}

// readPages reads the pages that File finds, up to the first error.
func readPages(t *testing.T, data []byte) (pages []*Image, err error) {
	t.Helper()
	file, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	for {
		var img Image
		if err := file.Next(&img); err != nil {
			return pages, err
		}
		pages = append(pages, &img)
	}
}

// Pages of all types are read back, also if each has a different size.
func TestWriter(t *testing.T) {
	var written []*Image
	for k, depth := range []Depth{Uint8, Uint16, Float32} {
		for _, channels := range []int{1, 3} {
			written = append(written, shades(5, 3, channels, depth, k), shades(4, 7, channels, depth, k+3)) // odd and even bytes
		}
	}
	data, err := os.ReadFile(writePages(t, written...))
	if err != nil {
		t.Fatal(err)
	}
	read, err := readPages(t, data)
	if err != io.EOF || len(read) != len(written) {
		t.Fatalf("%d pages of %d, %v", len(read), len(written), err)
	}
	for i, page := range read {
		if fmt.Sprint(page) != fmt.Sprint(written[i]) {
			t.Errorf("page %d: found %v, expected %v", i+1, page, written[i])
		}
	}
}

// A file that is cut anywhere gives its whole pages, or none.
func TestWriterTorn(t *testing.T) {
	a, b := shades(5, 3, 1, Uint16, 1), shades(5, 3, 3, Uint8, 2)
	data, err := os.ReadFile(writePages(t, a, b))
	if err != nil {
		t.Fatal(err)
	}
	second := headerBytes + Stored(a)
	for length := range len(data) {
		want := 0
		if int64(length) >= second {
			want = 1
		}
		pages, err := readPages(t, data[:length])
		if err == nil || len(pages) > 1 || int64(length) >= second && len(pages) != want {
			t.Fatalf("cut at %d: %d pages, %v", length, len(pages), err)
		}
	}
}

// failing accepts a number of writes, and half of the next one.
type failing struct {
	file *os.File
	left int
}

func (f *failing) WriteAt(p []byte, off int64) (int, error) {
	if f.left--; f.left >= 0 {
		return f.file.WriteAt(p, off)
	}
	n, _ := f.file.WriteAt(p[:len(p)/2], off)
	return n, io.ErrShortWrite
}

// If the disk fails within the directory, the pixels or the link of a page, the file keeps the previous pages, and Append returns an error.
func TestWriterDiskFails(t *testing.T) {
	first := shades(5, 3, 1, Uint8, 1)
	for broken := range 3 {
		file, err := os.Create(filepath.Join(t.TempDir(), "a.tif"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		w, err := NewWriter(&failing{file, 1 + 3 + broken})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Append(first); err != nil {
			t.Fatal(err)
		}
		if err := w.Append(shades(5, 3, 1, Uint8, 2)); !errors.Is(err, io.ErrShortWrite) || w.Size() != headerBytes+Stored(first) {
			t.Errorf("%d: %v, %d bytes", broken, err, w.Size())
		}
		data, err := os.ReadFile(file.Name())
		if err != nil {
			t.Fatal(err)
		}
		if pages, _ := readPages(t, data[:w.Size()]); len(pages) != 1 || fmt.Sprint(pages[0]) != fmt.Sprint(first) {
			t.Errorf("%d: %d pages are left", broken, len(pages))
		}
	}
}

func TestWriterRefuses(t *testing.T) {
	w := &Writer{size: 1<<32 - 100} // has no file
	if err := w.Append(shades(5, 3, 1, Uint8, 1)); err == nil || !strings.Contains(err.Error(), "begin another file") {
		t.Errorf("found %v", err)
	}
	if err := w.Append(&Image{Width: 1, Height: 1, Channels: 2}); err == nil || !strings.Contains(err.Error(), "2 channels") {
		t.Errorf("found %v", err)
	}
}
