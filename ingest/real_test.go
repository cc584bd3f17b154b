//go:build cgo

package ingest

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"gocv.io/x/gocv"
)

// TestRealRecordings reads recordings whose size, type and range are known.
func TestRealRecordings(t *testing.T) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	for _, c := range []struct {
		path                  string
		kind                  string
		frames, width, height int
		mat                   gocv.MatType
		low, high             float32 // over all frames; 0 and 0 if lossy decoders may differ
		timed                 bool
	}{
		{"pims-stuck-16bit/stuck.tif", "tiff", 5, 512, 512, gocv.MatTypeCV16UC1, 477, 576, false},
		{"trackpy-brightfield", "directory", 50, 500, 500, gocv.MatTypeCV8UC1, 0, 0, false},
		{"trackpy-bulk-water/bulk-water.mov", "video", 480, 640, 424, gocv.MatTypeCV8UC3, 0, 0, true},
		{"trackpy-bulk-water/*.png", "directory", 60, 640, 424, gocv.MatTypeCV8UC3, 22, 166, false}, // alpha, 255 everywhere, is dropped
		{"deeptrack-trap-good/trap-good.mp4", "video", 100, 120, 120, gocv.MatTypeCV8UC3, 0, 0, true},
	} {
		t.Run(c.path, func(t *testing.T) {
			path := filepath.Join(data, c.path)
			kind, _, err := Guess(path)
			if err != nil || kind != c.kind {
				t.Fatalf("kind %q, %v; %q expected", kind, err, c.kind)
			}
			s := openRecording(t, kind, "{path: '"+path+"'}")
			if s.Info().Frames != c.frames || s.Info().Timed != c.timed {
				t.Errorf("%d frames, timed %v; %d and %v expected", s.Info().Frames, s.Info().Timed, c.frames, c.timed)
			}
			n, low, high := 0, float32(1e9), float32(-1e9)
			for {
				f, err := s.Read(context.Background())
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				m := f.Mat()
				if m.Cols() != c.width || m.Rows() != c.height || m.Type() != c.mat || f.Seq != uint64(n) {
					t.Fatalf("frame %d is number %d, %dx%d of type %v", n, f.Seq, m.Cols(), m.Rows(), m.Type())
				}
				if c.high > 0 {
					flat := m.Reshape(1, 0)
					least, most, _, _ := gocv.MinMaxLoc(flat)
					flat.Close()
					low, high = min(low, least), max(high, most)
				}
				f.Close()
				n++
			}
			if n != c.frames {
				t.Errorf("%d frames, %d expected", n, c.frames)
			}
			if c.high > 0 && (low != c.low || high != c.high) {
				t.Errorf("values are %v..%v, %v..%v expected", low, high, c.low, c.high)
			}
		})
	}
}
