package camera

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// TestPipeline: every format gives correct pixels and times, and its end. GStreamer pads rows of 5 pixels.
func TestPipeline(t *testing.T) {
	for _, c := range []struct {
		caps   string
		format rawFormat
		white  []byte // the first pixel of videotestsrc's white
	}{
		{"GRAY8", gray8, []byte{235}}, // video range: 16 to 235
		{"GRAY16_LE", gray16, []byte{0xeb, 0xeb}},
		{"BGR", bgr, []byte{255, 255, 255}},
	} {
		p, err := openPipeline("videotestsrc num-buffers=3 pattern=white ! video/x-raw,format=" + c.caps + ",width=5,height=3,framerate=20/1 ! appsink sync=false")
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for n := range 3 {
			picture, err := p.Pull(10 * time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if picture.Format != c.format || picture.Width != 5 || picture.Height != 3 || picture.Rate != 20 || picture.PTS != time.Duration(n)*50*time.Millisecond {
				t.Errorf("%s: frame %d is %+v", c.caps, n, picture)
			}
			if len(picture.Raw()) < 5*3*c.format.Bytes() || picture.Raw()[0] < 0xea {
				t.Errorf("%s: a buffer of %d bytes", c.caps, len(picture.Raw()))
			}
			pixels := make([]byte, 5*3*c.format.Bytes())
			if err := picture.CopyTo(pixels); err != nil {
				t.Fatal(err)
			}
			for i, v := range pixels {
				if want := c.white[i%len(c.white)]; v != want && c.format != gray16 || v < 0xea {
					t.Fatalf("%s: byte %d is %d, %d expected", c.caps, i, v, want)
				}
			}
			if err := picture.CopyTo(pixels[1:]); err == nil {
				t.Error("a frame was copied into too few bytes")
			}
		}
		if _, err := p.Pull(10 * time.Second); err != io.EOF {
			t.Errorf("%s: %v, the end expected", c.caps, err)
		}
	}
}

func TestPipelineRefused(t *testing.T) {
	for description, want := range map[string]string{
		"nosuchsrc ! appsink":                      `no element "nosuchsrc"`,
		"videotestsrc ! fakesink":                  "no appsink",
		"filesrc location=/no/such/file ! appsink": "/no/such/file",
		"videotestsrc ! audio/x-raw ! appsink":     "could not link",
		"videotestsrc ! ! appsink":                 "syntax error",
		"videotestsrc\x00":                         "zero byte",
		"":                                         "pipeline",
		"appsink ! appsink ! appsink":              "link",
	} {
		p, err := openPipeline(description)
		if err == nil {
			p.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %q on one line expected", description, err, want)
		}
	}
}

// TestPipelineLate: a frame that does not arrive in time is not the end, and the error for an unknown format names it.
func TestPipelineLate(t *testing.T) {
	p, err := openPipeline("videotestsrc is-live=true ! video/x-raw,format=RGB,width=8,height=8,framerate=2/1 ! appsink sync=false")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for {
		_, err = p.Pull(10 * time.Millisecond)
		if !errors.Is(err, errNothing) {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "format RGB") {
		t.Errorf("%v, the name of the format expected", err)
	}
	p.Close()
}

func TestHas(t *testing.T) {
	if !hasElement("appsink") || hasElement("nosuchsink") {
		t.Error("appsink is installed and nosuchsink is not")
	}
}
