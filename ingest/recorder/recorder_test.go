package recorder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// camera is a live source of noisy frames. Frames in lost are missing, and frames in bad cannot be read. After another Open it counts from 0.
type camera struct {
	t         testing.TB
	kind      frame.MatType
	lost, bad map[uint64]bool
	seq       uint64
	dropped   uint64
	closed    int
}

func (c *camera) Info() pipeline.Info { return pipeline.Info{Live: true, Timed: true, Public: true} }

func (c *camera) Open(context.Context) error { c.seq = 0; return nil }

func (c *camera) Read(context.Context) (*frame.Frame, error) {
	for ; c.lost[c.seq]; c.seq++ {
		c.dropped++
	}
	c.seq++
	if c.bad[c.seq-1] {
		return nil, &pipeline.ErrSkip{Cause: "bad", Err: errors.New("bad")}
	}
	f := ingesttest.Noisy(c.t, c.seq-1, 7, 5, c.kind)
	f.Meta.Dropped, c.dropped = c.dropped, 0
	return f, nil
}

func (c *camera) Close() error { c.closed++; return nil }

// kept has the properties of a frame that a recording preserves.
type kept struct {
	seq, trajectory, dropped uint64
	ns                       int64
	kind                     frame.MatType
	pixels                   string
}

func keep(t testing.TB, f *frame.Frame) kept {
	t.Helper()
	return kept{f.Seq, f.Meta.Trajectory, f.Meta.Dropped, f.Time.UnixNano(), f.Mat().Type(), string(ingesttest.BytesOf(t, f))}
}

// take reads n times from r, and returns the frames and the codes of their events.
func take(t testing.TB, r *Recorder, n int) (frames []kept, events []string) {
	t.Helper()
	for range n {
		f, err := r.Read(t.Context())
		if skip := (*pipeline.ErrSkip)(nil); errors.As(err, &skip) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		frames = append(frames, keep(t, f))
		for _, e := range f.Meta.Events {
			events = append(events, e.Code)
		}
		f.Close()
	}
	return frames, events
}

// recorder records a camera into a new folder; the test closes it.
func recorder(t testing.TB, c *camera, most int64) (*Recorder, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "raw")
	r, err := New(c, folder, most)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if info := r.Info(); !info.Public || !info.Live {
		t.Errorf("%+v: a camera is live, and the frames may be anyone's", info)
	}
	return r, folder
}

// again reads a recording to its end and returns the frames and the causes of skips.
func again(t testing.TB, folder string) (frames []kept, skipped []string) {
	t.Helper()
	if !IsRecording(folder) {
		t.Fatalf("%s is no recording", folder)
	}
	s, err := NewReplay(func(dst any) error { dst.(*replayOptions).Path = folder; return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for {
		f, err := s.Read(t.Context())
		var skip *pipeline.ErrSkip
		switch {
		case err == io.EOF:
			return frames, skipped
		case errors.As(err, &skip):
			skipped = append(skipped, skip.Cause)
			continue
		case err != nil:
			t.Fatal(err)
		}
		frames = append(frames, keep(t, f))
		f.Close()
	}
}

func same(t testing.TB, got, want []kept) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d frames, %d expected", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("frame %d differs: %d at %d, expected %d at %d", i, got[i].seq, got[i].ns, want[i].seq, want[i].ns)
		}
	}
}

// Frames of every type are read back unchanged: pixels, numbers, times to the nanosecond, trajectories and losses.
func TestRecorder(t *testing.T) {
	for _, kind := range []frame.MatType{
		frame.MatTypeCV8UC1, frame.MatTypeCV8UC3, frame.MatTypeCV16UC1, frame.MatTypeCV16UC3, frame.MatTypeCV32FC1, frame.MatTypeCV32FC3,
	} {
		c := &camera{t: t, kind: kind, lost: map[uint64]bool{2: true, 3: true}}
		r, folder := recorder(t, c, 1<<30)
		want, events := take(t, r, 6)
		if err := r.Close(); err != nil || c.closed != 1 || len(events) != 0 {
			t.Fatal(err, c.closed, events)
		}
		got, skipped := again(t, folder)
		same(t, got, want)
		if len(skipped) != 0 || want[2].dropped != 2 {
			t.Errorf("skipped %v, frame %+v", skipped, want[2])
		}
		if !strings.HasPrefix(r.Account(), "recorded 6 frames (") || strings.Contains(r.Account(), "stopped") {
			t.Error(r.Account())
		}
	}
}

// Frames that the source could not read are losses in the recording, as in tracking.
func TestRecorderSkips(t *testing.T) {
	r, folder := recorder(t, &camera{t: t, kind: frame.MatTypeCV8UC1, lost: map[uint64]bool{1: true}, bad: map[uint64]bool{2: true, 3: true}}, 1<<30)
	take(t, r, 5)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, _ := again(t, folder)
	if len(got) != 3 || got[1].seq != 4 || got[1].dropped != 3 || got[2].dropped != 0 {
		t.Errorf("%+v", got)
	}
}

// A source that is lost and opened again counts from 0, and the recording continues its numbers.
func TestRecorderReopens(t *testing.T) {
	r, folder := recorder(t, &camera{t: t, kind: frame.MatTypeCV16UC1}, 1<<30)
	want, _ := take(t, r, 3)
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	more, _ := take(t, r, 2)
	for i := range more {
		more[i].seq += 3
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, _ := again(t, folder)
	same(t, got, append(want, more...))
}

// A recording stays within its size bound. Then frames continue, one of them reports the end, and the recorded frames can be read.
func TestRecorderBound(t *testing.T) {
	const most = 2000
	r, folder := recorder(t, &camera{t: t, kind: frame.MatTypeCV8UC1}, most)
	want, events := take(t, r, 30)
	account := r.Account()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if len(want) != 30 || fmt.Sprint(events) != "[recording_stopped]" || !strings.Contains(account, "record.max_gb") || strings.Contains(account, "\n") {
		t.Errorf("%d frames, events %v, %s", len(want), events, account)
	}
	got, _ := again(t, folder)
	same(t, got, want[:len(got)])
	if used := diskUse(t, folder); used > most || used < most/2 || used != r.Size() || len(got) < 5 {
		t.Errorf("%d bytes of %d, %d accounted, %d frames", used, most, r.Size(), len(got))
	}
}

func diskUse(t testing.TB, folder string) (n int64) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// When the disk fails, frames continue, and the frames recorded before can be read.
func TestRecorderDiskFails(t *testing.T) {
	r, folder := recorder(t, &camera{t: t, kind: frame.MatTypeCV8UC1}, 1<<30)
	want, _ := take(t, r, 4)
	path := r.index.Name()
	r.index.Close()
	var err error
	if r.index, err = os.Open(path); err != nil { // opened read-only, so writing fails
		t.Fatal(err)
	}
	_, events := take(t, r, 3)
	if fmt.Sprint(events) != "[recording_stopped not_recorded not_recorded not_recorded]" || !strings.Contains(r.Account(), "free space") || strings.Contains(r.Account(), "\n") {
		t.Errorf("events %v, %s", events, r.Account())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	got, _ := again(t, folder)
	same(t, got, want)
}

// If the folder is missing when the source is opened again, the recording ends and the source continues.
func TestRecorderFolderGone(t *testing.T) {
	for _, frames := range []int{0, 3} {
		c := &camera{t: t, kind: frame.MatTypeCV8UC1}
		r, folder := recorder(t, c, 1<<30)
		take(t, r, frames)
		if err := errors.Join(r.Close(), os.RemoveAll(folder)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := r.Open(t.Context()); err != nil {
				t.Fatalf("after %d frames: found %v, expected the source to be open", frames, err)
			}
		}
		_, events := take(t, r, 3)
		if fmt.Sprint(events) != "[recording_stopped not_recorded not_recorded not_recorded]" || !strings.Contains(r.Account(), "when the source was opened again: open "+folder) || strings.Contains(r.Account(), "\n") {
			t.Errorf("after %d frames: events %v, %s", frames, events, r.Account())
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A recording that is cut anywhere, for example because the process was killed, is read up to its last whole frame.
func TestRecordingTorn(t *testing.T) {
	r, folder := recorder(t, &camera{t: t, kind: frame.MatTypeCV8UC1}, 1<<30)
	want, _ := take(t, r, 3)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(filepath.Join(folder, indexName))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for length := len(indexHeader); length < len(index); length++ {
		ingesttest.Write(t, filepath.Join(folder, indexName), index[:length])
		got, skipped := again(t, folder)
		rows = bytes.Count(index[:length], []byte("\n")) - 1
		same(t, got, want[:rows])
		if torn := index[length-1] != '\n'; torn != (fmt.Sprint(skipped) == "[torn_recording]") {
			t.Errorf("cut after %d bytes: skipped %v", length, skipped)
		}
	}
	if rows != 2 {
		t.Errorf("the last cut left %d rows", rows)
	}
}

func TestRecordingRefused(t *testing.T) {
	r, folder := recorder(t, &camera{t: t, kind: frame.MatTypeCV8UC1}, 1<<30)
	take(t, r, 2)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"file,t\n": "the first line is",
		indexHeader + "../raw/frames-0001.tif,1,0,0,0,0\n":                     "the name of a TIFF or of the Zarr array in this folder",
		indexHeader + "/etc/passwd,1,0,0,0,0\n":                                "recording.csv:2: found file",
		indexHeader + "frames-0001.tif,1,0,0,0\n":                              "expected file,page,seq",
		indexHeader + "frames-0001.tif,1,-1,0,0,0\n":                           `"-1"`,
		indexHeader + "frames-0001.tif,2,0,0,0,0\n":                            "page 2 of frames-0001.tif, page 1 expected",
		indexHeader + "frames-0002.tif,1,0,0,0,0\n":                            "frames-0002.tif: ",
		indexHeader + "frames-0001.tif,1,5,0,0,0\nframes-0001.tif,2,5,1,0,0\n": "recording.csv:3: seq is 5 after 5",
		indexHeader + strings.Repeat("x", 2*maxRow) + "\n":                     "more than 4096 bytes",
		indexHeader + rowsOf(3):                                                "has 2 pages, but the index lists page 3",
	} {
		ingesttest.Write(t, filepath.Join(folder, indexName), []byte(text))
		s := &replay{folder: folder}
		err := s.Open(t.Context())
		for err == nil {
			var f *frame.Frame
			if f, err = s.Read(t.Context()); f != nil {
				f.Close()
			}
		}
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.60q: found %v, expected %s", text, err, want)
		}
		s.Close()
	}
	if err := (&replay{folder: t.TempDir()}).Open(t.Context()); err == nil || !strings.Contains(err.Error(), "run --record") {
		t.Error(err)
	}
	if _, err := New(&camera{}, folder, 1); err == nil || !strings.Contains(err.Error(), "give a new folder") {
		t.Error(err)
	}
	if _, err := New(&camera{}, filepath.Join(folder, indexName), 1); err == nil || !strings.Contains(err.Error(), "recording: ") {
		t.Error(err)
	}
}

// rowsOf returns the index rows of n frames in one file.
func rowsOf(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "frames-0001.tif,%d,%d,%d,0,0\n", i+1, i, i)
	}
	return b.String()
}

// FuzzRow: for any line of the index, the row names a TIFF in the recording's folder, or the error is one line.
func FuzzRow(f *testing.F) {
	f.Add("frames-0001.tif,1,0,1700000000000000000,0,0")
	f.Add("../frames-0001.tif,1,0,0,0,0")
	f.Add("frames-0001.tif,-1,18446744073709551615,-9223372036854775808,0,0")
	f.Fuzz(func(t *testing.T, line string) {
		now, err := (&replay{index: os.Stdin}).parse(line)
		if err != nil && strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%q", err)
		}
		if err == nil && (filepath.Join("raw", now.file) != "raw/"+now.file || strings.ContainsAny(now.file, "/\\")) {
			t.Errorf("%q", now.file)
		}
	})
}

// When a file has reached its bound, the next file begins.
func TestRecorderManyFiles(t *testing.T) {
	f := ingesttest.Noisy(t, 0, 2, 1, frame.MatTypeCV8UC1)
	folder := t.TempDir()
	r, err := New(still{f}, folder, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	const n = segmentPages + 2
	for range n {
		if _, err := r.Read(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.Seq++
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	s := &replay{folder: folder}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for seq := range uint64(n) {
		f, err := s.Read(t.Context())
		if err != nil || f.Seq != seq {
			t.Fatalf("frame %d: %v", seq, err)
		}
		f.Close()
	}
	if s.last.file != "frames-0002.tif" || s.last.page != 2 {
		t.Errorf("the last frame is page %d of %s", s.last.page, s.last.file)
	}
}

// BenchmarkRecorder measures the cost of recording per frame of 512x512 16-bit pixels.
func BenchmarkRecorder(b *testing.B) {
	f := ingesttest.Noisy(b, 0, 512, 512, frame.MatTypeCV16UC1)
	r, err := New(still{f}, b.TempDir(), 8<<30)
	if err != nil {
		b.Fatal(err)
	}
	if err := r.Open(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.SetBytes(512 * 512 * 2)
	for b.Loop() {
		if _, err := r.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
		f.Seq++
	}
}

// still is a source that returns the same frame repeatedly.
type still struct{ f *frame.Frame }

func (s still) Open(context.Context) error                 { return nil }
func (s still) Info() pipeline.Info                        { return pipeline.Info{Timed: true} }
func (s still) Read(context.Context) (*frame.Frame, error) { return s.f, nil }
func (s still) Close() error                               { return nil }
