//go:build cgo

package ingesttest

import (
	"path/filepath"
	"testing"

	"gocv.io/x/gocv"
)

// Video writes a video of n flat frames with OpenCV's writer. The grey value grows by 4 per frame.
func Video(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.avi")
	w, err := gocv.VideoWriterFile(path, "MJPG", 20, 64, 48, true)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range n {
		v := float64(4 * i)
		mat := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(v, v, v, 0), 48, 64, gocv.MatTypeCV8UC3)
		err := w.Write(mat)
		mat.Close()
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}
