package zarr

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/ingest/tiff"
)

// shot returns a picture in which every byte differs from its neighbours.
func shot(n, channels int, depth tiff.Depth) *tiff.Image {
	img := &tiff.Image{Width: 5, Height: 3, Channels: channels, Depth: depth, Pix: make([]byte, 5*3*channels*depth.Bytes())}
	for i := range img.Pix {
		img.Pix[i] = byte(31*i + 7*n)
	}
	return img
}

// TestWriter: after each Append all written frames can be read bit for bit, with their time step.
func TestWriter(t *testing.T) {
	for _, channels := range []int{1, 3} {
		for _, depth := range []tiff.Depth{tiff.Uint8, tiff.Uint16, tiff.Float32} {
			folder := t.TempDir()
			w := NewWriter(folder)
			for n := range 3 {
				if err := w.Append(shot(n, channels, depth)); err != nil {
					t.Fatal(err)
				}
				image := opened(t, os.DirFS(folder))
				if last, err := image.Last(Place{}, false); last != n || err != nil || image.Times() != n+1 || image.Interval != 0 {
					t.Errorf("after %d frames: the last is %d (%v) of %d, every %g s", n+1, last, err, image.Times(), image.Interval)
				}
				var got tiff.Image
				for i := range n + 1 {
					if err := image.ReadColours(&got, i); err != nil || got.Channels != channels || got.Depth != depth || !bytes.Equal(got.Pix, shot(i, channels, depth).Pix) {
						t.Errorf("frame %d of %d channels of depth %d: %v, other pixels", i, channels, depth, err)
					}
				}
			}
			if err := w.Describe(0.25); err != nil {
				t.Fatal(err)
			}
			if image := opened(t, os.DirFS(folder)); image.Interval != 0.25 || w.Frames() != 3 || w.Size() != 3*int64(len(shot(0, channels, depth).Pix)) {
				t.Errorf("every %g s, %d frames of %d bytes", image.Interval, w.Frames(), w.Size())
			}
		}
	}
}

// TestWriterCut: if writing is interrupted, the store has the earlier frames and nothing of the torn one.
func TestWriterCut(t *testing.T) {
	folder := t.TempDir()
	w := NewWriter(folder)
	for n := range 2 {
		if err := w.Append(shot(n, 1, tiff.Uint16)); err != nil {
			t.Fatal(err)
		}
	}
	torn := filepath.Join(folder, "0", "2", "0", "0", "0")
	if err := os.MkdirAll(torn, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"0" + part, "0"} { // interrupted within the chunk, or before the array was extended
		if err := os.WriteFile(filepath.Join(torn, name), []byte{1, 2, 3}, 0o666); err != nil {
			t.Fatal(err)
		}
		if last, err := opened(t, os.DirFS(folder)).Last(Place{}, false); last != 1 || err != nil {
			t.Errorf("with %s the last is %d, %v; 1 expected", name, last, err)
		}
	}
}

// TestWriterRefuses: frames of a different size give an error and do not change the store.
func TestWriterRefuses(t *testing.T) {
	folder := t.TempDir()
	w := NewWriter(folder)
	if err := w.Append(shot(0, 1, tiff.Uint8)); err != nil {
		t.Fatal(err)
	}
	if err := w.Append(shot(0, 3, tiff.Uint8)); err == nil || !strings.Contains(err.Error(), "5x3 pixels of 3 channels of 1 bytes, but the first had 5x3 of 1 of 1") {
		t.Errorf("%v, both sizes expected", err)
	}
	if w.Frames() != 1 || opened(t, os.DirFS(folder)).Times() != 1 {
		t.Error("the frame counts")
	}
	if err := NewWriter(filepath.Join(folder, ".zgroup")).Append(shot(0, 1, tiff.Uint8)); err == nil {
		t.Error("a file is no folder")
	}
}

// TestWriterDescribes: the attributes are JSON with the names of five axes and the colours of three channels.
func TestWriterDescribes(t *testing.T) {
	folder := t.TempDir()
	if err := NewWriter(folder).Append(shot(0, 3, tiff.Uint8)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, v2Attributes))
	var m metadata
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || len(m.Multiscales) != 1 || len(m.Multiscales[0].Axes) != 5 || len(m.Omero.Channels) != 3 || m.Omero.Channels[2].Label != "blue" {
		t.Errorf("%v: %s", err, text)
	}
}
