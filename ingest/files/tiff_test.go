package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
	"driftscope/internal/flow/pipeline"
)

// join concatenates pages that Encode wrote to one file. It moves the offsets of the later pages and links the directories.
func join(t testing.TB, pages ...*tiff.Image) []byte {
	t.Helper()
	le := binary.LittleEndian
	var out []byte
	link := 4 // offset of the link to the next directory
	for _, p := range pages {
		one := ingesttest.EncodeTIFF(t, p)
		base := uint32(len(out))
		entries := int(le.Uint16(one[8:]))
		for i := range entries {
			e := one[10+12*i:]
			count, size := le.Uint32(e[4:]), uint32(4)
			if le.Uint16(e[2:]) == 3 {
				size = 2
			}
			if le.Uint16(e) == 273 || count*size > 4 { // strip offsets, and values stored outside the entry
				le.PutUint32(e[8:], le.Uint32(e[8:])+base)
			}
		}
		out = append(out, one...)
		le.PutUint32(out[link:], base+8)
		link = int(base) + 10 + 12*entries
	}
	return out
}

func TestTIFFPixels(t *testing.T) {
	for _, c := range []struct {
		page *tiff.Image
		want []float64
	}{
		{ingesttest.Page(5, 3, 1, tiff.Uint8, 200), []float64{200}},
		{ingesttest.Page(5, 3, 1, tiff.Uint16, 0x81), []float64{0x8181}},
		{ingesttest.Page(5, 3, 1, tiff.Float32, 0x40), []float64{3.0039215087890625}}, // bits 0x40404040
		{&tiff.Image{Width: 1, Height: 1, Channels: 3, Depth: tiff.Uint8, Pix: []byte{1, 2, 3}}, []float64{3, 2, 1}},
		{&tiff.Image{Width: 1, Height: 1, Channels: 3, Depth: tiff.Uint16, Pix: []byte{1, 1, 2, 2, 3, 3}}, []float64{0x303, 0x202, 0x101}},
	} {
		path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.tif"), ingesttest.EncodeTIFF(t, c.page))
		frames, skipped := ingesttest.ReadAll(t, openRecording(t, "tiff", "{path: "+path+", fps: 4}"))
		if len(frames) != 1 || len(skipped) != 0 || !reflect.DeepEqual(frames[0].Corner, c.want) {
			t.Errorf("depth %d, %d channels: %+v, skipped %v; %v expected", c.page.Depth, c.page.Channels, frames, skipped, c.want)
		}
	}
}

func TestTIFFTimes(t *testing.T) {
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.tif"), join(t, ingesttest.Page(5, 3, 1, tiff.Uint8, 1), ingesttest.Page(5, 3, 1, tiff.Uint8, 2), ingesttest.Page(5, 3, 1, tiff.Uint8, 3)))
	for _, c := range []struct {
		options string
		dt      float64
		timed   bool
		events  []string
	}{
		{"", 1, false, []string{"no_frame_interval"}},
		{", dt: 0.25", 0.25, true, nil},
		{", fps: 8", 0.125, true, nil},
	} {
		s := openRecording(t, "tiff", "{path: "+path+c.options+"}")
		if s.Info().Timed != c.timed || s.Info().Frames != 3 {
			t.Errorf("%q: timed %v, %d frames; %v and 3 expected", c.options, s.Info().Timed, s.Info().Frames, c.timed)
		}
		frames, _ := ingesttest.ReadAll(t, s)
		if len(frames) != 3 {
			t.Fatalf("%q: %d frames, 3 expected", c.options, len(frames))
		}
		for i, f := range frames {
			events := c.events
			if i > 0 {
				events = nil
			}
			if f.Seq != uint64(i) || f.T != float64(i)*c.dt || f.Corner[0] != float64(i+1) || f.File != "a.tif" || !reflect.DeepEqual(f.Events, events) {
				t.Errorf("%q: frame %d is %+v", c.options, i, f)
			}
		}
	}
}

// describe adds a description to the first page of a file that Encode or join wrote.
func describe(file []byte, text string) []byte {
	le := binary.LittleEndian
	n, at := le.Uint16(file[8:]), len(file)+len(text)
	out := le.AppendUint16(slices.Concat(file, []byte(text)), n+1)
	entries, link := file[10:10+12*int(n)], file[10+12*int(n):][:4]
	for ; len(entries) > 0; entries = entries[12:] {
		if tag := le.Uint16(entries); tag > 270 && text != "" {
			out = le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(out, 270), 2), uint32(len(text))), uint32(len(file)))
			text = ""
		}
		out = append(out, entries[:12]...)
	}
	le.PutUint32(out[4:], uint32(at))
	return append(out, link...)
}

// TestTIFFDescribed: the time step of a description is used if the user gave none and pages differ only in time.
func TestTIFFDescribed(t *testing.T) {
	for _, c := range []struct {
		text, options string
		interval      float64
		events        []string
	}{
		{"ImageJ=1.53t\nframes=3\nfinterval=0.25\n", "", 0.25, []string{"described_interval"}},
		{`<OME><Pixels SizeT="3" TimeIncrement="250" TimeIncrementUnit="ms"/></OME>`, "", 0.25, []string{"described_interval"}},
		{"ImageJ=1.53t\nframes=3\nfinterval=0.25\n", ", dt: 2", 2, nil},
		{"ImageJ=1.53t\nframes=3\nfinterval=7200\n", "", 1, []string{"no_frame_interval"}}, // more than maxInterval
		{"ImageJ=1.53t\nframes=3\nchannels=2\nfinterval=0.25\n", "", 1, []string{"no_frame_interval", "mixed_pages"}},
	} {
		path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.tif"), describe(ingesttest.EncodeTIFF(t, ingesttest.Page(5, 3, 1, tiff.Uint8, 1)), c.text))
		s := openRecording(t, "tiff", "{path: "+path+c.options+"}").(*tiffSource)
		if timed := !slices.Contains(c.events, "no_frame_interval"); s.clock.At(1) != c.interval || s.Info().Timed != timed {
			t.Errorf("%q%s: a step takes %g s, timed %v; %g and %v expected", c.text, c.options, s.clock.At(1), s.Info().Timed, c.interval, timed)
		}
		if frames, _ := ingesttest.ReadAll(t, s); len(frames) != 1 || !reflect.DeepEqual(frames[0].Events, c.events) {
			t.Errorf("%q%s: %+v, one frame with %v expected", c.text, c.options, frames, c.events)
		}
	}
}

// TestTIFFMixed: channels that are read as one series give a warning.
func TestTIFFMixed(t *testing.T) {
	for _, text := range []string{"ImageJ=1.53t\nimages=6\nchannels=2\nframes=3\n", `<OME><Pixels SizeC="1" SizeT="3" SizeZ="2"/></OME>`} {
		path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.tif"), describe(ingesttest.EncodeTIFF(t, ingesttest.Page(5, 3, 1, tiff.Uint8, 1)), text))
		for _, s := range []pipeline.Source{openRecording(t, "tiff", "{path: "+path+", dt: 2}"), followed(t, "tiff", path, "100ms")} {
			frames, _ := ingesttest.ReadAll(t, s)
			if len(frames) != 1 || !reflect.DeepEqual(frames[0].Events, []string{"mixed_pages"}) {
				t.Errorf("%T: %+v, one frame with mixed_pages expected", s, frames)
			}
		}
	}
}

// TestTIFFSizeChanges: a page whose size or type differs from the first page's is skipped and keeps its time.
func TestTIFFSizeChanges(t *testing.T) {
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.tif"), join(t, ingesttest.Page(5, 3, 1, tiff.Uint8, 1), ingesttest.Page(3, 5, 1, tiff.Uint8, 2), ingesttest.Page(5, 3, 3, tiff.Uint8, 3), ingesttest.Page(5, 3, 1, tiff.Uint8, 4)))
	frames, skipped := ingesttest.ReadAll(t, openRecording(t, "tiff", "{path: "+path+", dt: 2}"))
	if !reflect.DeepEqual(skipped, []string{"size_changed", "type_changed"}) || len(frames) != 2 {
		t.Fatalf("%d frames, skipped %v", len(frames), skipped)
	}
	if f := frames[1]; f.Seq != 3 || f.T != 6 || f.Corner[0] != 4 || f.Dropped != 0 { // the runner counts skipped pages
		t.Errorf("after the skipped pages comes %+v, frame 3 at 6 s expected", f)
	}
}

func TestTIFFTorn(t *testing.T) {
	whole := join(t, ingesttest.Page(5, 3, 1, tiff.Uint8, 1), ingesttest.Page(5, 3, 1, tiff.Uint8, 2), ingesttest.Page(5, 3, 1, tiff.Uint8, 3))
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.tif"), whole[:len(whole)-7])
	s := openRecording(t, "tiff", "{path: "+path+", dt: 2}")
	for range 2 {
		f, err := s.Read(context.Background())
		if err != nil {
			t.Fatalf("a page before the tear: %v", err)
		}
		f.Close()
	}
	_, err := s.Read(context.Background())
	if skip := new(pipeline.ErrSkip); err == nil || errors.As(err, &skip) || !strings.Contains(err.Error(), "torn") {
		t.Errorf("the torn page: %v, an error that ends the run expected", err)
	}
}

func TestTIFFRefused(t *testing.T) {
	dir := t.TempDir()
	whole := ingesttest.EncodeTIFF(t, ingesttest.Page(5, 3, 1, tiff.Uint8, 1))
	huge := bytes.Clone(whole)
	for i := range 2 { // the first two entries are width and height
		binary.LittleEndian.PutUint32(huge[10+12*i+8:], 40000)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty.tif": {nil, "is empty"},
		"text.tif":  {[]byte("not a picture"), `begins with "not "`},
		"huge.tif":  {huge, "40000x40000 pixels"},
		"torn.tif":  {whole[:len(whole)-1], "the file is torn"},
	} {
		path := ingesttest.Write(t, filepath.Join(dir, name), c.data)
		s := newRecording(t, "tiff", "{path: "+path+"}")
		err := s.Open(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v, one line with the name and %q expected", name, err, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	s := newRecording(t, "tiff", "{path: "+dir+"}")
	if err := s.Open(context.Background()); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}
