//go:build cgo

package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest/follow"
	"driftscope/ingest/ingesttest"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/pipeline"
)

// film writes a video of n flat frames, whose grey grows by 10, with OpenCV's own writer.
func film(t *testing.T, name, code string, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := gocv.VideoWriterFile(path, code, 20, 64, 48, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		v := float64(10 * i)
		mat := gocv.NewMatWithSizeFromScalar(gocv.NewScalar(v, v, v, 0), 48, 64, gocv.MatTypeCV8UC3)
		err = errors.Join(err, w.Write(mat), mat.Close())
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// grey10 fails the test unless f is frame i of a film.
func grey10(t *testing.T, f ingesttest.Seen, i int) {
	t.Helper()
	// Coding changes a flat grey by a few levels at most.
	if f.Seq != uint64(i) || math.Abs(f.Corner[1]-float64(10*i)) > 4 || math.Abs(f.T-0.5*float64(i)) > 1e-9 {
		t.Errorf("frame %d is %+v", i, f)
	}
}

// TestFollowMKV: every frame is returned once and in order, and promptly after FFmpeg has identified the streams of the file.
func TestFollowMKV(t *testing.T) {
	const (
		n      = 16
		before = 8 // number of frames after which FFmpeg has identified the streams
		prompt = 250 * time.Millisecond
	)
	data := film(t, "a.mkv", "MJPG", n)
	path := filepath.Join(t.TempDir(), "a.mkv")
	whole := make(chan time.Time, n)
	file := create(t, path)
	grow := func(i int) {
		end := len(data) // the index follows the last frame
		if i < n-1 {
			end = bytes.Index(data, []byte{0xff, 0xd9}) + 2 // end marker of a JPEG
		}
		for ; len(data) > 0 && end > 0; end-- { // a byte at a time
			if _, err := file.Write(data[:1]); err != nil {
				t.Error(err)
			}
			data = data[1:]
		}
		whole <- time.Now()
	}
	for i := range before {
		grow(i)
	}
	s := followed(t, "video", path, "1s")
	slowest := time.Duration(0)
	for i := range n {
		if i >= before {
			go grow(i)
		}
		f, err := s.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if late := time.Since(<-whole); i >= before {
			slowest = max(slowest, late)
		}
		grey10(t, ingesttest.Look(t, f), i)
		f.Close()
	}
	if slowest > prompt {
		t.Errorf("a frame came %v after it was whole, at most %v expected", slowest, prompt)
	}
	t.Logf("slowest frame %v", slowest)
	if _, err := s.Read(context.Background()); err != io.EOF {
		t.Errorf("%v, the end expected", err)
	}
}

// TestFollowDamagedMKV: a file that FFmpeg cannot continue to read gives an error, and the source does not restart FFmpeg forever.
func TestFollowDamagedMKV(t *testing.T) {
	data := film(t, "a.mkv", "MJPG", 60)
	random := rand.New(rand.NewPCG(1, 2))
	for i := 2000; i < len(data); i++ {
		if random.IntN(300) == 0 {
			data[i] ^= byte(1 + random.IntN(255))
		}
	}
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.mkv"), data)
	ended := make(chan error, 1)
	s := followed(t, "video", path, "300ms")
	go func() {
		for {
			f, err := s.Read(t.Context())
			var skip *pipeline.ErrSkip
			switch {
			case err == nil:
				f.Close()
			case !errors.As(err, &skip):
				ended <- err
				return
			}
		}
	}()
	select {
	case err := <-ended:
		if err != io.EOF && !strings.Contains(err.Error(), "is damaged after frame") {
			t.Errorf("found %v", err)
		}
		t.Log(err)
	case <-time.After(30 * time.Second): // it takes a second
		t.Fatal("a damaged file is read for ever")
	}
}

// TestFollowTornMKV: the frame within which the writer stopped is not returned.
func TestFollowTornMKV(t *testing.T) {
	const n = 6
	data := film(t, "a.mkv", "MJPG", n)
	cut := bytes.LastIndex(data, []byte{0xff, 0xd9})
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.mkv"), data[:cut-20])
	frames, _ := ingesttest.ReadAll(t, followed(t, "video", path, "300ms"))
	if len(frames) != n-1 {
		t.Errorf("%d frames, %d expected", len(frames), n-1)
	}
	for i, f := range frames {
		grey10(t, f, i)
	}
}

// TestFollowTS: the frames of an MPEG-TS that grows in portions are returned whole and in order.
func TestFollowTS(t *testing.T) {
	const n = 20
	data := film(t, "a.ts", "mpg2", n)
	path := filepath.Join(t.TempDir(), "a.ts")
	file := create(t, path)
	go func() {
		for ; len(data) > 0; data = data[min(500, len(data)):] {
			if _, err := file.Write(data[:min(500, len(data))]); err != nil {
				t.Error(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	frames, skipped := ingesttest.ReadAll(t, followed(t, "video", path, "500ms"))
	if len(frames) != n || len(skipped) != 0 {
		t.Errorf("%d frames, skipped %v; %d expected", len(frames), skipped, n)
	}
	for i, f := range frames {
		grey10(t, f, i)
	}
}

// TestVideoAgain: after FFmpeg gave up, the source continues with the next frame.
func TestVideoAgain(t *testing.T) {
	const n = 8
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.mkv"), film(t, "a.mkv", "MJPG", n))
	c, err := timing.NewClock(0.5, 0)
	if err != nil {
		t.Fatal(err)
	}
	tail, err := follow.NewTail(true, 200*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	v := &growingVideo{video: video{path: path, clock: c}, tail: tail}
	defer v.Close()
	if err := v.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if i%3 == 2 {
			if err := v.again(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		f, err := v.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		grey10(t, ingesttest.Look(t, f), i)
		f.Close()
	}
	if _, err := v.Read(t.Context()); err != io.EOF {
		t.Errorf("%v, the end expected", err)
	}
}

// TestFollowVideoRefused: a file that can be read only when complete is rejected at once, with advice.
func TestFollowVideoRefused(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ data, want string }{
		"a.avi": {"RIFF....AVI LIST", "is an AVI, which can be read only when it is complete: leave follow out, or record to MKV, TIFF or a folder of pictures"},
		"b.mkv": {"....ftypisom", "is an MP4"},
		"c.mkv": {"", "contains no start of a video after 200ms"},
		"d.mkv": {"\x1a\x45\xdf\xa3 and nothing else", "FFmpeg cannot read this kind of video"},
	} {
		path := ingesttest.Write(t, filepath.Join(dir, name), []byte(c.data))
		s, err := NewVideo(ingesttest.DecodeYAML("{path: " + path + ", follow: true, until_idle: 200ms}"))
		if err != nil {
			t.Fatal(err)
		}
		if err = s.Open(context.Background()); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, the name and %q expected", name, err, c.want)
		}
		s.Close()
	}
}
