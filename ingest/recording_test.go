package ingest

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"driftscope/ingest/tiff"
	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
)

// recording is what the sources of files have in common.
type recording interface {
	pipeline.Source
	Timed() bool
	Frames() int
}

// newRecording makes a source from YAML options.
func newRecording(t testing.TB, kind, options string) recording {
	t.Helper()
	source, err := New(kind, decodeYAML(options))
	if err != nil {
		t.Fatal(err)
	}
	return source.(recording)
}

// decodeYAML decodes options as a configuration does.
func decodeYAML(options string) func(any) error {
	return func(dst any) error {
		return yaml.UnmarshalWithOptions([]byte(options), dst, yaml.DisallowUnknownField())
	}
}

// openRecording makes and opens a source; the test closes it.
func openRecording(t testing.TB, kind, options string) recording {
	t.Helper()
	s := newRecording(t, kind, options)
	if err := s.Open(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// seen is what a test keeps of a frame.
type seen struct {
	seq        uint64
	t          float64
	trajectory uint64
	file       string
	corner     []float64 // channels of the first pixel
	events     []string
	dropped    uint64
}

// readAll reads to the end: the frames, and the causes of the skipped ones in their places.
func readAll(t testing.TB, s pipeline.Source) (frames []seen, skipped []string) {
	t.Helper()
	for {
		f, err := s.Read(context.Background())
		var skip *pipeline.ErrSkip
		switch {
		case err == io.EOF:
			return frames, skipped
		case errors.As(err, &skip):
			if strings.ContainsRune(skip.Error(), '\n') {
				t.Errorf("the error is not one line: %q", skip)
			}
			skipped = append(skipped, skip.Cause)
		case err != nil:
			t.Fatal(err)
		default:
			frames = append(frames, look(t, f))
			f.Close()
		}
	}
}

func look(t testing.TB, f *frame.Frame) seen {
	if age := time.Since(f.Meta.Arrived); age < 0 || age > time.Minute {
		t.Errorf("frame %d arrived %v ago", f.Seq, age)
	}
	s := seen{seq: f.Seq, t: f.Time.Sub(time.Unix(0, 0)).Seconds(), trajectory: f.Meta.Trajectory, file: filepath.Base(f.Meta.File), dropped: f.Meta.Dropped}
	for _, e := range f.Meta.Events {
		if !e.Warn {
			t.Errorf("%s is no warning", e.Code)
		}
		s.events = append(s.events, e.Code)
	}
	s.corner = corner(f.Mat())
	return s
}

// page is a TIFF page of one value.
func page(width, height, channels int, depth tiff.Depth, value byte) *tiff.Image {
	pix := bytes.Repeat([]byte{value}, width*height*channels*depth.Bytes())
	return &tiff.Image{Width: width, Height: height, Channels: channels, Depth: depth, Pix: pix}
}

func write(t testing.TB, path string, data []byte) string {
	t.Helper()
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func encodeTIFF(t testing.TB, img *tiff.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tiff.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// grey is a PNG's picture of one value.
func grey(width, height int, value uint8) image.Image {
	img := image.NewGray(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = value
	}
	return img
}

// hugePNG is a PNG header of 40,000 x 40,000 pixels.
func hugePNG(t testing.TB) []byte {
	data := encodePNG(t, image.NewPaletted(image.Rect(0, 0, 40000, 1), color.Palette{color.Black, color.White}))
	copy(data[20:24], data[16:20]) // the height; the checksum of the header is then wrong, as in a forged file
	return data
}

// TestKinds: trial is the tests' own.
func TestKinds(t *testing.T) {
	if got := strings.Join(Kinds(), " "); got != "camera directory fits genicam gst nats ndtiff recording sim tiff trial url video" {
		t.Errorf("kinds are %s", got)
	}
	_, err := New("camera9", func(any) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `"camera9" is not known: give one of camera, directory, fits, genicam, gst, nats, ndtiff, recording, sim, tiff, trial, url, video`) {
		t.Errorf("%v, the list of kinds expected", err)
	}
}

func TestOptionsRefused(t *testing.T) {
	for _, kind := range []string{"video", "directory", "tiff", "fits"} {
		for _, c := range []struct{ options, want string }{
			{"{}", "path is missing"},
			{"{path: x, speed: 2}", "speed"},
			{"{path: x, dt: 0.1, fps: 10}", "dt is 0.1 and fps is 10: give one of them"},
			{"{path: x, dt: -1}", "dt is -1, expected 1e-09 to 3600 seconds"},
			{"{path: x, dt: .nan}", "dt is NaN"},
			{"{path: x, fps: .inf}", "fps is +Inf"},
			{"{path: x, fps: -3}", "fps is -3"},
		} {
			_, err := New(kind, decodeYAML(c.options))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v, %q expected", kind, c.options, err, c.want)
			}
		}
	}
}

func TestGuess(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.tif", "b.TIFF", "c.ome.tif", "d.btf", "e.mp4", "f.MOV", "g.webm", "h.png", "i.xyz", "plain", "j.fits", "k.FIT", "l.fts"} {
		write(t, filepath.Join(dir, name), []byte("x"))
	}
	write(t, filepath.Join(dir, "0V-1"), []byte("SIMPLE  =                    T"))
	for name, begin := range map[string]string{
		"tif.mp4": "II*\x00", "big": "MM\x00+", "avi.tif": "RIFF....AVI LIST", "mkv": "\x1a\x45\xdf\xa3", "mp4.fits": "....ftypisom",
		"ts.png": "G" + strings.Repeat("x", 187) + "G", "png.tif": "\x89PNG\r\n\x1a\n", "GIF": "GIF89a",
	} {
		write(t, filepath.Join(dir, name), []byte(begin))
	}
	for _, c := range []struct{ arg, kind, want string }{
		{"sim:molecule", "sim", ""},
		{".", "directory", ""},
		{"*.tif", "directory", ""},
		{"a.tif", "tiff", ""},
		{"b.TIFF", "tiff", ""},
		{"c.ome.tif", "tiff", ""},
		{"d.btf", "tiff", ""},
		{"j.fits", "fits", ""},
		{"k.FIT", "fits", ""},
		{"l.fts", "fits", ""},
		{"0V-1", "fits", ""},
		{"tif.mp4", "tiff", ""}, // what a file begins with wins over its name
		{"big", "tiff", ""},
		{"avi.tif", "video", ""},
		{"mkv", "video", ""},
		{"mp4.fits", "video", ""},
		{"ts.png", "video", ""},
		{"png.tif", "", "is a single picture"},
		{"GIF", "", "has no extension"},
		{"e.mp4", "video", ""},
		{"f.MOV", "video", ""},
		{"g.webm", "video", ""},
		{"h.png", "", "is a single picture: give its folder"},
		{"i.xyz", "", "is a .xyz file, which no source reads: give sim:NAME"},
		{"plain", "", "has no extension"},
		{"absent.tif", "", "does not exist: give sim:NAME"},
		{"*.jpg", "", "matches no file"},
		{"[", "", "syntax error"},
	} {
		arg := c.arg
		if c.kind != "sim" {
			arg = filepath.Join(dir, c.arg)
		}
		kind, options, err := Guess(arg)
		if kind != c.kind || (err == nil) != (c.want == "") {
			t.Errorf("%s: kind %q, %v; %q expected", c.arg, kind, err, c.kind)
			continue
		}
		if err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %q expected", c.arg, err, c.want)
		}
		key, value := "path", arg
		if kind == "sim" {
			key, value = "name", "molecule"
		}
		if err == nil && options[key] != value {
			t.Errorf("%s: options %v, %s %s expected", c.arg, options, key, value)
		}
	}
}

// TestReadStops: a cancelled Read returns at once and loses no frame.
func TestReadStops(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.tif"), encodeTIFF(t, page(4, 3, 1, tiff.Uint8, 9)))
	ctx, stop := context.WithCancel(context.Background())
	stop()
	cube := write(t, filepath.Join(dir, "a.fits"), fitsFile(4, 3, 1))
	for kind, path := range map[string]string{"directory": dir, "tiff": filepath.Join(dir, "a.tif"), "fits": cube} {
		s := openRecording(t, kind, "{path: "+path+"}")
		if _, err := s.Read(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, context.Canceled expected", kind, err)
		}
		if frames, _ := readAll(t, s); len(frames) != 1 {
			t.Errorf("%s: %d frames after that, 1 expected", kind, len(frames))
		}
	}
}
