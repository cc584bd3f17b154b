package doctor

import (
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"gocv.io/x/gocv"
)

var writeFilms = flag.Bool("write", false, "write films/ anew, with OpenCV's and FFmpeg's encoders")

// TestFilms: a film of every codec is readable; a truncated one is reported as unreadable.
func TestFilms(t *testing.T) {
	if *writeFilms {
		for name, code := range map[string]string{"H.264.mp4": "avc1", "H.265.mp4": "hev1", "MPEG-4.mp4": "mp4v", "Motion-JPEG.avi": "MJPG", "FFV1.mkv": "FFV1"} {
			writeFilm(t, filepath.Join("films", name), code)
		}
	}
	found := codecs(t.Context(), machine{})
	if len(found) != 1 || found[0].Grade != Good {
		t.Fatalf("found %+v", found)
	}
	for _, codec := range []string{"H.264", "H.265", "MPEG-4", "Motion-JPEG", "FFV1"} {
		if !strings.Contains(found[0].Found, codec) {
			t.Errorf("%s is not read: %s", codec, found[0].Found)
		}
	}
	film, err := films.ReadFile("films/H.264.mp4")
	if err != nil {
		t.Fatal(err)
	}
	if err := decodes(t.Context(), "torn.mp4", film[:len(film)/3]); err == nil || !strings.Contains(err.Error(), "torn.mp4") {
		t.Errorf("a torn film: %v", err)
	}
}

// writeFilm writes three frames of a slope, in the smallest size that all encoders accept.
func writeFilm(t *testing.T, path, code string) {
	t.Helper()
	w, err := gocv.VideoWriterFile(path, code, 25, 64, 64, true)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		mat := gocv.NewMatWithSize(64, 64, gocv.MatTypeCV8UC3)
		pixels, bad := mat.DataPtrUint8()
		for i := range pixels {
			pixels[i] = byte(i/192 + 20*n)
		}
		err = errors.Join(err, bad, w.Write(mat), mat.Close())
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
}
