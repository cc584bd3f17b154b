//go:build cgo

package ingesttest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gocv.io/x/gocv"
)

// TransportStream returns an MPEG transport stream of the first n pictures at 25 per second. code is FFmpeg's four-letter
// code of the codec.
func TransportStream(t testing.TB, code string, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.ts")
	w, err := gocv.VideoWriterFile(path, code, 25, Width, Height, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		grey, err := gocv.NewMatFromBytes(Height, Width, gocv.MatTypeCV8UC1, Shown(i))
		if err != nil {
			t.Fatal(err)
		}
		colour := gocv.NewMat()
		gocv.CvtColor(grey, &colour, gocv.ColorGrayToBGR)
		if err := errors.Join(w.Write(colour), grey.Close(), colour.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
