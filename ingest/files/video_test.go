//go:build cgo

package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
)

func TestVideo(t *testing.T) {
	const n = 12
	path := ingesttest.Video(t, n)
	for _, c := range []struct {
		options string
		dt      float64
		events  []string
	}{
		{"", 0.05, []string{"container_frame_rate"}},
		{", dt: 0.5", 0.5, nil},
		{", fps: 4", 0.25, nil},
	} {
		s := openRecording(t, "video", "{path: "+path+c.options+"}")
		if !s.Info().Timed || s.Info().Frames != n {
			t.Errorf("timed %v, %d frames; true and %d expected", s.Info().Timed, s.Info().Frames, n)
		}
		frames, skipped := ingesttest.ReadAll(t, s)
		if len(frames) != n || len(skipped) != 0 {
			t.Fatalf("%d frames, skipped %v; %d expected", len(frames), skipped, n)
		}
		for i, f := range frames {
			// Motion JPEG changes a flat grey by two levels at most.
			if off := f.Corner[0] - float64(4*i); f.Seq != uint64(i) || off < -2 || off > 2 || len(f.Corner) != 3 {
				t.Errorf("frame %d is %+v", i, f)
			}
			if off := f.T - float64(i)*c.dt; off < -1e-9 || off > 1e-9 {
				t.Errorf("frame %d at %g s, %g expected", i, f.T, float64(i)*c.dt)
			}
		}
		if !reflect.DeepEqual(frames[0].Events, c.events) {
			t.Errorf("events %v, %v expected", frames[0].Events, c.events)
		}
	}
}

// TestVideoDepth: a video of more than 8 bits gives a warning about the lost bits.
func TestVideoDepth(t *testing.T) {
	for format, want := range map[string]int{
		"Y1\x00\x0a": 10, "\x10\x001Y": 16, "Y3\x0b\x0c": 12, "RGB\x30": 16, "0BGR": 16, "@RBA": 16,
		"Y800": 0, "I420": 0, "Y3\x0b\x08": 0, "RGB\x18": 0, "RGB\x10": 0, "\x10BGR": 0, "ARGB": 0, "BGRA": 0, "YUV9": 0, "\xff\xff\xff\xff": 0,
	} {
		if bits := depth(binary.LittleEndian.Uint32([]byte(format))); bits != want {
			t.Errorf("%q has %d bits, %d expected", format, bits, want)
		}
	}
	for _, c := range []struct {
		picture image.Image
		events  []string
	}{
		{image.NewGray16(image.Rect(0, 0, 64, 48)), []string{"depth_lost"}},
		{image.NewGray(image.Rect(0, 0, 64, 48)), nil},
	} {
		path := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.avi"), aviOfPNG(ingesttest.EncodePNG(t, c.picture)))
		frames, _ := ingesttest.ReadAll(t, openRecording(t, "video", "{path: "+path+", fps: 20}"))
		if len(frames) != 1 || !slices.Equal(frames[0].Events, c.events) {
			t.Errorf("%T: %+v, one frame with %v expected", c.picture, frames, c.events)
		}
	}
}

// aviOfPNG returns an AVI whose only frame, of 64x48 pixels, is the given PNG.
func aviOfPNG(picture []byte) []byte {
	le := binary.LittleEndian
	chunk := func(name string, data ...[]byte) []byte {
		all := bytes.Join(data, nil)
		return append(le.AppendUint32([]byte(name), uint32(len(all))), append(all, make([]byte, len(all)%2)...)...)
	}
	numbers := func(n ...uint32) (b []byte) {
		for _, v := range n {
			b = le.AppendUint32(b, v)
		}
		return b
	}
	header := chunk("avih", numbers(50000, 0, 0, 0, 1, 0, 1, 0, 64, 48, 0, 0, 0, 0))
	stream := chunk("strh", []byte("vidsMPNG"), numbers(0, 0, 0, 1, 20, 0, 1, 0, 0, 0, 0, 48<<16|64))
	pixels := chunk("strf", numbers(40, 64, 48, 24<<16|1), []byte("MPNG"), numbers(0, 0, 0, 0, 0))
	return chunk("RIFF", []byte("AVI "), chunk("LIST", []byte("hdrl"), header, chunk("LIST", []byte("strl"), stream, pixels)),
		chunk("LIST", []byte("movi"), chunk("00dc", picture)))
}

// TestVideoTruncated: the frames before the tear are returned, and then one skip for the missing frames.
func TestVideoTruncated(t *testing.T) {
	whole, err := os.ReadFile(ingesttest.Video(t, 40))
	if err != nil {
		t.Fatal(err)
	}
	path := ingesttest.Write(t, filepath.Join(t.TempDir(), "torn.avi"), whole[:len(whole)/2])
	frames, skipped := ingesttest.ReadAll(t, openRecording(t, "video", "{path: "+path+"}"))
	if len(frames) < 5 || len(frames) > 25 || !reflect.DeepEqual(skipped, []string{"truncated_video"}) {
		t.Errorf("%d frames, skipped %v; about 20 and one truncated_video expected", len(frames), skipped)
	}
}

func TestVideoRefused(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty.mp4": {nil, "is empty"},
		"text.mp4":  {[]byte("not a video"), "FFmpeg cannot read this kind of video"},
		"text.avi":  {[]byte("#EXTM3U\n/etc/hostname\n"), "FFmpeg cannot read this kind of video"},
	} {
		path := ingesttest.Write(t, filepath.Join(dir, name), c.data)
		s := newRecording(t, "video", "{path: "+path+"}")
		err := s.Open(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, the name and %q expected", name, err, c.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestVideoClosedEarly: Close frees the frame that Open read if it was never returned; the suite counts Mats.
func TestVideoClosedEarly(t *testing.T) {
	s := newRecording(t, "video", "{path: "+ingesttest.Video(t, 3)+"}")
	if err := s.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
