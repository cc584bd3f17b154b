package files

import (
	"bytes"
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/frame"
)

func TestFITS(t *testing.T) {
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "0V-1.fits"), ingesttest.FITS(5, 3, 4))
	s := openRecording(t, "fits", "{path: "+path+", dt: 0.25}")
	if s.Info().Frames != 4 || !s.Info().Timed {
		t.Errorf("%d frames, timed %t; want 4 and true", s.Info().Frames, s.Info().Timed)
	}
	frames, skipped := ingesttest.ReadAll(t, s)
	if len(frames) != 4 || len(skipped) != 0 {
		t.Fatalf("%d frames, skipped %v; want 4 and none", len(frames), skipped)
	}
	for k, f := range frames {
		if f.Seq != uint64(k) || f.T != 0.25*float64(k) || !slices.Equal(f.Corner, []float64{float64(1000 * k)}) || f.File != "0V-1.fits" || len(f.Events) != 0 {
			t.Errorf("frame %d: %+v", k, f)
		}
	}
}

// The file's first row is the picture's first row, and counts keep their 16 bits.
func TestFITSPixels(t *testing.T) {
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.fit"), ingesttest.FITS(5, 3, 1))
	f, err := openRecording(t, "fits", "{path: "+path+", fps: 1}").Read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := f.Mat()
	if m.Cols() != 5 || m.Rows() != 3 || m.Type() != frame.MatTypeCV16UC1 {
		t.Fatalf("%dx%d of type %v", m.Cols(), m.Rows(), m.Type())
	}
	counts, err := m.DataPtrUint16()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 15 {
		if got := counts[i]; int(got) != i {
			t.Errorf("pixel (%d, %d) is %d; want %d", i%5, i/5, got, i)
		}
	}
}

// The frame interval comes from the user, or else the camera's cycle, or else the exposure with a warning, or else is one second with another warning.
func TestFITSTimes(t *testing.T) {
	cycle, exposure := "KCT     =         5.000000E-02 / Kinetic Cycle Time", "EXPOSURE=                 0.03"
	for _, c := range []struct {
		options string
		cards   []string
		step    float64
		timed   bool
		events  []string
	}{
		{", fps: 10", []string{cycle, exposure}, 0.1, true, nil},
		{"", []string{exposure, cycle}, 0.05, true, nil},
		{"", []string{"CYCLETIM= 2"}, 2, true, nil},
		{"", []string{exposure}, 0.03, true, []string{"exposure_as_interval"}},
		{"", []string{"KCT     = 0", exposure}, 0.03, true, []string{"exposure_as_interval"}},
		{"", []string{"KCT     = 'fast'", "EXPTIME = -1"}, 1, false, []string{"no_frame_interval"}},
		{"", nil, 1, false, []string{"no_frame_interval"}},
	} {
		path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.fts"), ingesttest.FITS(2, 2, 2, c.cards...))
		s := openRecording(t, "fits", "{path: "+path+c.options+"}")
		frames, _ := ingesttest.ReadAll(t, s)
		// Times are whole nanoseconds.
		if len(frames) != 2 || math.Abs(frames[1].T-c.step) > 1e-9 || s.Info().Timed != c.timed || !slices.Equal(frames[0].Events, c.events) {
			t.Errorf("%v%s: %+v, timed %t; want steps of %g s, timed %t, events %v", c.cards, c.options, frames, s.Info().Timed, c.step, c.timed, c.events)
		}
	}
}

func TestFITSRefused(t *testing.T) {
	dir := t.TempDir()
	whole := ingesttest.FITS(60, 60, 2)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty.fits": {nil, "is empty"},
		"torn.fits":  {whole[:len(whole)-2880], "promises 2 pictures of 60x60 pixels, but the file has only 1: it is torn, copy it again"},
		"text.fits":  {bytes.Repeat([]byte("hello "), 1000), `begins with "hello hell"`},
		"blank.fits": {ingesttest.FITS(0, 0, 1), "pictures have 0x0 pixels"},
	} {
		path := ingesttest.Write(t, filepath.Join(dir, name), c.file)
		s := newRecording(t, "fits", "{path: "+path+"}")
		err := s.Open(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want the path and %q", name, err, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
