package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
	"driftscope/internal/flow/pipeline"
)

// newRecording makes a source from YAML options.
func newRecording(t testing.TB, kind, options string) pipeline.Source {
	t.Helper()
	source, err := New(kind, ingesttest.DecodeYAML(options))
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// openRecording makes and opens a source; the test closes it.
func openRecording(t testing.TB, kind, options string) pipeline.Source {
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

// TestKinds: the error for an unknown kind lists the known kinds.
func TestKinds(t *testing.T) {
	if got := strings.Join(Kinds(), " "); got != "camera czi directory fits genicam gst hdf5 nats nd2 ndtiff recording sim tiff url video zarr" {
		t.Errorf("kinds are %s", got)
	}
	_, err := New("camera9", func(any) error { return nil })
	if err == nil || !strings.Contains(err.Error(), `"camera9" is not known: give one of camera, czi, directory, fits, genicam, gst, hdf5, nats, nd2, ndtiff, recording, sim, tiff, url, video, zarr`) {
		t.Errorf("%v, the list of kinds expected", err)
	}
}

func TestOptionsRefused(t *testing.T) {
	for _, kind := range []string{"video", "directory", "tiff", "fits", "hdf5", "czi", "nd2"} {
		if Lacks(kind) { // tested by TestLacks
			continue
		}
		for _, c := range []struct{ options, want string }{
			{"{}", "path is missing"},
			{"{path: x, speed: 2}", "speed"},
			{"{path: x, dt: 0.1, fps: 10}", "dt is 0.1 and fps is 10: give one of them"},
			{"{path: x, dt: -1}", "dt is -1, expected 1e-09 to 3600 seconds"},
			{"{path: x, dt: .nan}", "dt is NaN"},
			{"{path: x, fps: .inf}", "fps is +Inf"},
			{"{path: x, fps: -3}", "fps is -3"},
		} {
			_, err := New(kind, ingesttest.DecodeYAML(c.options))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v, %q expected", kind, c.options, err, c.want)
			}
		}
	}
}

func TestGuess(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.tif", "b.TIFF", "c.ome.tif", "d.btf", "e.mp4", "f.MOV", "g.webm", "h.png", "i.xyz", "plain", "j.fits", "k.FIT", "l.fts", "m.H5", "n.hdf5", "o.czi", "p.nd2"} {
		ingesttest.Write(t, filepath.Join(dir, name), []byte("x"))
	}
	ingesttest.Write(t, filepath.Join(dir, "0V-1"), []byte("SIMPLE  =                    T"))
	for name, begin := range map[string]string{
		"tif.mp4": "II*\x00", "big": "MM\x00+", "avi.tif": "RIFF....AVI LIST", "mkv": "\x1a\x45\xdf\xa3", "mp4.fits": "....ftypisom",
		"ts.png": "G" + strings.Repeat("x", 187) + "G", "png.tif": "\x89PNG\r\n\x1a\n", "GIF": "GIF89a",
		"h5.tif": "\x89HDF\r\n\x1a\n", "a.mat": "MATLAB 7.3" + strings.Repeat(" ", 502) + "\x89HDF\r\n\x1a\n", "zeiss": "ZISRAWFILE\x00", "nikon.dat": "\xda\xce\xbe\x0a",
	} {
		ingesttest.Write(t, filepath.Join(dir, name), []byte(begin))
	}
	for _, name := range []string{"run.zarr", "run.zarr/0", "v2", "v3", "kept.zarr"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"run.zarr/0/.zarray", "v2/.zattrs", "v3/zarr.json", "kept.zarr/recording.csv"} {
		ingesttest.Write(t, filepath.Join(dir, name), []byte("{}"))
	}
	for _, c := range []struct{ arg, kind, want string }{
		{"run.zarr", "zarr", ""},
		{"run.zarr/0", "zarr", ""},
		{"v2", "zarr", ""},
		{"v3", "zarr", ""},
		{"kept.zarr", "recording", ""},
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
		{"m.H5", "hdf5", ""},
		{"n.hdf5", "hdf5", ""},
		{"o.czi", "czi", ""},
		{"p.nd2", "nd2", ""},
		{"h5.tif", "hdf5", ""},
		{"a.mat", "hdf5", ""},
		{"zeiss", "czi", ""},
		{"nikon.dat", "nd2", ""},
		{"tif.mp4", "tiff", ""}, // the first bytes of a file take precedence over its name
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

func TestGuessCameras(t *testing.T) {
	for arg, want := range map[string]struct {
		kind, key string
		value     any
	}{
		"camera:1":                   {"camera", "device", 1},
		"genicam:Basler-acA640-2107": {"genicam", "camera", "Basler-acA640-2107"},
		"genicam:any":                {"genicam", "camera", "any"},
		"gst:v4l2src ! videoflip":    {"gst", "pipeline", "v4l2src ! videoflip"},
		"rtsp://host/stream":         {"url", "url", "rtsp://host/stream"},
		"http://host:80/video.mjpg":  {"url", "url", "http://host:80/video.mjpg"},
	} {
		kind, options, err := Guess(arg)
		if err != nil || kind != want.kind || len(options) != 1 || options[want.key] != want.value {
			t.Errorf("%s: %s %v, %v; %+v expected", arg, kind, options, err, want)
		}
	}
	if _, _, err := Guess("camera:front"); err == nil || !strings.Contains(err.Error(), "camera:0") {
		t.Errorf("%v, an example expected", err)
	}
}

// TestReadStops: a cancelled Read returns at once and loses no frame.
func TestReadStops(t *testing.T) {
	dir := t.TempDir()
	ingesttest.Write(t, filepath.Join(dir, "a.tif"), ingesttest.EncodeTIFF(t, ingesttest.Page(4, 3, 1, tiff.Uint8, 9)))
	ctx, stop := context.WithCancel(context.Background())
	stop()
	cube := ingesttest.Write(t, filepath.Join(dir, "a.fits"), ingesttest.FITS(4, 3, 1))
	for kind, path := range map[string]string{"directory": dir, "tiff": filepath.Join(dir, "a.tif"), "fits": cube} {
		s := openRecording(t, kind, "{path: "+path+"}")
		if _, err := s.Read(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, context.Canceled expected", kind, err)
		}
		if frames, _ := ingesttest.ReadAll(t, s); len(frames) != 1 {
			t.Errorf("%s: %d frames after that, 1 expected", kind, len(frames))
		}
	}
}

// TestShown: messages contain no password.
func TestShown(t *testing.T) {
	for arg, want := range map[string]string{
		"rtsp://guest:hidden@10.0.0.7/a":        "rtsp://guest:xxxxx@10.0.0.7/a",
		"http://10.0.0.7/a?user=g&pwd=hidden":   "http://10.0.0.7/a?...",
		"rtsp://guest:hid/den@10.0.0.7:9/a b%z": "rtsp://...",
		"rtsp://10.0.0.7/a":                     "rtsp://10.0.0.7/a",
		"film.mp4":                              "film.mp4",
		"gst:souphttpsrc location=http://a ! b": "gst:souphttpsrc location=http://a ! b",
	} {
		if got := Shown(arg); got != want {
			t.Errorf("%s: %s, %s expected", arg, got, want)
		}
	}
}
