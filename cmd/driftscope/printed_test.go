package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gocv.io/x/gocv"

	"driftscope/internal/suite"
)

// tornVideo writes a video of noise and replaces it by the bytes that spoil returns.
func tornVideo(t *testing.T, folder, name, code string, spoil func(whole []byte) []byte) {
	t.Helper()
	path := filepath.Join(folder, name)
	w, err := gocv.VideoWriterFile(path, code, 20, 64, 48, true)
	if err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		mat := gocv.NewMatWithSize(48, 64, gocv.MatTypeCV8UC3)
		pixels, bad := mat.DataPtrUint8()
		for i := range pixels {
			pixels[i] = byte(noise.Uint32())
		}
		err = errors.Join(err, bad, w.Write(mat), mat.Close())
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeTorn(t, path, spoil(whole))
}

func writeTorn(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// flipped changes one byte in 300 after the header.
func flipped(whole []byte) []byte {
	at := rand.New(rand.NewPCG(3, 4))
	for range len(whole) / 300 {
		whole[2000+at.IntN(len(whole)-2000)] ^= 0xff
	}
	return whole
}

// beginning returns the part that a killed writer leaves.
func beginning(whole []byte) []byte { return whole[:len(whole)*6/10] }

// foreign matches the beginnings of lines from OpenCV, FFmpeg, libpng, libjpeg and GLib.
var foreign = regexp.MustCompile(`(?m)^(\[|libpng|Corrupt|Premature|Invalid|imdecode_|\(.*(CRITICAL|WARNING) \*\*).*$`)

// TestLibrariesStayQuiet: messages of FFmpeg, OpenCV and the picture readers about damaged files do not reach standard error. The program
// itself reports the damage in a line that names the file.
func TestLibrariesStayQuiet(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	folder := t.TempDir()
	tornVideo(t, folder, "cut.mp4", "mp4v", beginning)
	tornVideo(t, folder, "cut.mkv", "MJPG", beginning)
	tornVideo(t, folder, "bad.avi", "MJPG", flipped)
	tornVideo(t, folder, "bad.ts", "mpg2", flipped)
	grey := image.NewGray(image.Rect(0, 0, 64, 48))
	noise := rand.New(rand.NewPCG(5, 6))
	for i := range grey.Pix {
		grey.Pix[i] = byte(noise.Uint32())
	}
	var sound, badPNG, badJPEG bytes.Buffer
	if err := errors.Join(png.Encode(&sound, grey), png.Encode(&badPNG, grey), jpeg.Encode(&badJPEG, grey, nil)); err != nil {
		t.Fatal(err)
	}
	badPNG.Bytes()[badPNG.Len()/2] ^= 0xff
	clear(badJPEG.Bytes()[badJPEG.Len()/2 : badJPEG.Len()/2+200])
	writeTorn(t, filepath.Join(folder, "png", "a.png"), sound.Bytes())
	writeTorn(t, filepath.Join(folder, "png", "b.png"), badPNG.Bytes())
	writeTorn(t, filepath.Join(folder, "jpg", "a.jpg"), badJPEG.Bytes())
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	bare := []string{"--nats", "off", "--no-status", "--dashboard", "off"}
	for _, test := range []struct {
		args   []string
		status int
		want   string // text on standard output or in the program's own lines
	}{
		{[]string{"probe", "cut.mp4"}, 1, "cut.mp4 is cut off, or FFmpeg cannot read this kind of video (moov atom not found)"},
		{[]string{"probe", server.URL + "/cut.mp4"}, 1, "cannot be opened (moov atom not found)"},
		{[]string{"probe", "cut.mkv"}, 0, "only 7 of the 12 frames in the file's header could be read"},
		{[]string{"probe", "bad.avi"}, 0, "FFmpeg reported errors in this video, first: "},
		{[]string{"probe", "bad.ts"}, 0, "FFmpeg reported errors in this video, first: "},
		{[]string{"probe", "png"}, 0, `b\.png: the PNG is damaged \(libpng error: IDAT: `},
		{[]string{"probe", "jpg"}, 0, `a\.jpg was decoded, but parts of it may be wrong `},
		{append([]string{"run", "bad.avi", "--objects"}, bare...), 0, "damaged_video"},
		{append([]string{"run", "bad.ts", "--follow", "--until-idle", "300ms"}, bare...), 0, "damaged_video"},
		{append([]string{"run", "jpg", "--objects"}, bare...), 0, "damaged_picture"},
	} {
		want := test.want
		if !strings.ContainsAny(want, `|\`) {
			want = regexp.QuoteMeta(want)
		}
		o := drive(t, folder, test.args...)
		if line := foreign.FindString(o.errors + o.out); line != "" {
			t.Errorf("%v: a library's own line was printed: %s", test.args, line)
		}
		if o.status != test.status || !regexp.MustCompile(want).MatchString(o.out+o.errors) {
			t.Errorf("%v: status %d, expected %d and %q\n%s%s", test.args, o.status, test.status, test.want, o.out, o.errors)
		}
	}
}

// TestLibrariesAsked: FFmpeg's lines are printed if the user enables them in OpenCV.
func TestLibrariesAsked(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	tornVideo(t, folder, "bad.ts", "mpg2", flipped)
	c := command(t, folder, "probe", "bad.ts")
	c.Env = append(c.Env, "OPENCV_FFMPEG_LOGLEVEL=16")
	printed, err := c.CombinedOutput()
	if err != nil || !bytes.Contains(printed, []byte("[OPENCV:FFMPEG:")) {
		t.Errorf("%v, expected FFmpeg's own lines:\n%s", err, printed)
	}
}

// TestUnreadFramesLimited: in a folder of damaged pictures the first ten are named and the others counted.
func TestUnreadFramesLimited(t *testing.T) {
	t.Parallel()
	const n = 60
	folder := t.TempDir()
	var sound bytes.Buffer
	if err := png.Encode(&sound, image.NewGray(image.Rect(0, 0, 64, 48))); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		writeTorn(t, filepath.Join(folder, "torn", fmt.Sprintf("%03d.png", i)), sound.Bytes()[:60])
	}
	o := drive(t, folder, "pretrain", "torn", "--latent", "2", "--dt", "1", "--out", "x.onnx")
	named := strings.Count(o.errors, ".png: the end of the PNG is missing")
	if o.status == 0 || named == 0 || named > 12 || !strings.Contains(o.errors, "50 more frames could not be read: unreadable_file") {
		t.Errorf("status %d, %d of %d pictures are named, 10 and a count of the others expected:\n%s", o.status, named, n, o.errors)
	}
}
