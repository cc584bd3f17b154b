package files

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
)

// h5py returns the path of a file that h5py wrote (ingest/hdf5/testdata/SOURCE.txt).
func h5py(t testing.TB, name string) (path string) {
	t.Helper()
	archive, err := zip.OpenReader("../hdf5/testdata/h5py.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	r, err := archive.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return ingesttest.Write(t, filepath.Join(t.TempDir(), name), data)
}

// cziFile writes a CZI file after change was applied.
func cziFile(t testing.TB, f *ingesttest.CZI, change func(*ingesttest.CZI)) (path string) {
	t.Helper()
	change(f)
	return ingesttest.Write(t, filepath.Join(t.TempDir(), "film.czi"), f.Bytes())
}

// nd2File writes an ND2 file.
func nd2File(t testing.TB, chunks ...ingesttest.ND2Chunk) (path string) {
	t.Helper()
	return ingesttest.Write(t, filepath.Join(t.TempDir(), "film.nd2"), ingesttest.ND2("Ver3.0", chunks...))
}

// TestFinished: files of all three kinds return the frames of one channel and slice in order, with their own times.
func TestFinished(t *testing.T) {
	film := func(times, channels, slices int, change func(*ingesttest.CZI)) string {
		return cziFile(t, ingesttest.CZIFilm(times, channels, slices), change)
	}
	described := func(f *ingesttest.CZI) {
		f.Metadata = `<ImageDocument><Metadata><Information><Image><Dimensions><T><Positions><Interval><Increment>0.5</Increment></Interval></Positions></T></Dimensions></Image></Information></Metadata></ImageDocument>`
	}
	stamped := func(f *ingesttest.CZI) { f.Stamps = []float64{3, 3.25, 5} }
	falling := func(f *ingesttest.CZI) { f.Stamps = []float64{3, 5, 4} }
	plain := func(*ingesttest.CZI) {}
	one, loops := ingesttest.ND2Film(3, 2, 20), ingesttest.ND2Loops(ingesttest.ND2Times(3, 30))
	still := []ingesttest.ND2Chunk{ingesttest.ND2Attributes(4, 3, 1, 16), loops}
	for n := range 3 {
		still = append(still, ingesttest.ND2Picture(n, 0, ingesttest.ND2Pixels(n, 1)))
	}
	for _, c := range []struct {
		kind, path, options string
		times               []float64
		corners             []float64
		events              string
		skipped             string
		timed               bool
	}{
		{"hdf5", h5py(t, "user.h5"), "dt: 0.5", []float64{0, 0.5, 1, 1.5, 2}, []float64{0, 1000, 2000, 3000, 4000}, "", "", true},
		{"hdf5", h5py(t, "names.h5"), "axes: tyx, dataset: film", []float64{0, 1, 2, 3, 4}, []float64{0, 1000, 2000, 3000, 4000}, "no_frame_interval", "", false},
		{"hdf5", h5py(t, "earliest.h5"), "dataset: g2/group/within/deep, channel: 2, slice: 2, fps: 10", []float64{0, 0.1}, []float64{400, 1400}, "", "", true},
		{"hdf5", h5py(t, "user.h5"), "axes: zyx, fps: 10", []float64{0, 0.1, 0.2, 0.3, 0.4}, []float64{0, 1000, 2000, 3000, 4000}, "slices_as_frames", "", true},
		{"czi", film(3, 2, 1, stamped), "channel: 2", []float64{0, 0.25, 2}, []float64{100, 1100, 2100}, "", "", true},
		{"czi", film(3, 2, 2, described), "channel: 1, slice: 2", []float64{0, 0.5, 1}, []float64{20, 1020, 2020}, "described_interval", "", true},
		{"czi", film(3, 1, 1, stamped), "fps: 4", []float64{0, 0.25, 0.5}, []float64{0, 1000, 2000}, "", "", true},
		{"czi", film(3, 1, 1, falling), "", []float64{0, 2}, []float64{0, 1000}, "", "out_of_order", true},
		{"czi", film(1, 1, 3, plain), "", []float64{0, 1, 2}, []float64{0, 20, 40}, "slices_as_frames no_frame_interval", "", false},
		{"czi", film(3, 1, 1, func(f *ingesttest.CZI) { f.Pictures = append(f.Pictures[:1], f.Pictures[2]) }), "dt: 1", []float64{0, 2}, []float64{0, 2000}, "", "missing_frame", true},
		{"czi", film(3, 1, 1, func(f *ingesttest.CZI) { f.Pictures[1].Data = nil }), "dt: 1", []float64{0, 2}, []float64{0, 2000}, "", "unreadable_frame", true},
		{"nd2", nd2File(t, one...), "channel: 2", []float64{0, 0.02, 0.04}, []float64{100, 1100, 2100}, "", "", true},
		{"nd2", nd2File(t, append(one, loops)...), "channel: 1, dt: 2", []float64{0, 2, 4}, []float64{0, 1000, 2000}, "", "", true},
		{"nd2", nd2File(t, still...), "", []float64{0, 0.03, 0.06}, []float64{0, 1000, 2000}, "described_interval", "", true},
		{"nd2", nd2File(t, append(ingesttest.ND2Film(3, 1, 20), ingesttest.ND2Loops(ingesttest.ND2Slices(3)))...), "", []float64{0, 0.02, 0.04}, []float64{0, 1000, 2000}, "slices_as_frames", "", true},
	} {
		s := openRecording(t, c.kind, fmt.Sprintf("{path: %q, %s}", c.path, c.options))
		if s.Info().Frames != len(c.corners)+len(strings.Fields(c.skipped)) || s.Info().Timed != c.timed {
			t.Errorf("%s %s: %d frames, timed %v", c.path, c.options, s.Info().Frames, s.Info().Timed)
		}
		frames, skipped := ingesttest.ReadAll(t, s)
		var times, corners []float64
		var events []string
		for _, f := range frames {
			times, corners, events = append(times, math.Round(f.T*1e6)/1e6), append(corners, f.Corner[0]), append(events, f.Events...)
		}
		if !slices.Equal(times, c.times) || !slices.Equal(corners, c.corners) || strings.Join(events, " ") != c.events || strings.Join(skipped, " ") != c.skipped {
			t.Errorf("%s %s: %v at %v s, told %v, skipped %v; %v at %v, %q and %q expected", c.path, c.options, corners, times, events, skipped, c.corners, c.times, c.events, c.skipped)
		}
	}
}

// TestPixelSize: the first frame has an event with the size of a pixel, which is not a warning.
func TestPixelSize(t *testing.T) {
	for kind, path := range map[string]string{
		"czi": cziFile(t, ingesttest.CZIFilm(2, 1, 1), func(f *ingesttest.CZI) {
			f.Metadata = `<a><Metadata><Scaling><Items><Distance Id="X"><Value>1.1e-7</Value></Distance><Distance Id="Y"><Value>1.1e-7</Value></Distance></Items></Scaling></Metadata></a>`
		}),
		"nd2": nd2File(t, append(ingesttest.ND2Film(2, 1, 20), ingesttest.ND2Level("ImageCalibrationLV|0!", "SLxCalibration", ingesttest.ND2Record{"dCalibration", 0.11}))...),
	} {
		s := openRecording(t, kind, fmt.Sprintf("{path: %q, dt: 1}", path))
		for n := range 2 {
			f, err := s.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			told := len(f.Meta.Events) == 1 && f.Meta.Events[0].Code == "pixel_size" && !f.Meta.Events[0].Warn && strings.Contains(f.Meta.Events[0].Text, "online.pixel_um: 0.11 ")
			if told != (n == 0) {
				t.Errorf("%s: frame %d tells %+v", kind, n, f.Meta.Events)
			}
			f.Close()
		}
		if sized, ok := s.(interface{ PixelUM() (x, y float64) }); !ok {
			t.Errorf("%s has no size of a pixel", kind)
		} else if x, y := sized.PixelUM(); math.Abs(x-0.11) > 1e-9 || x != y {
			t.Errorf("%s: %g by %g", kind, x, y)
		}
	}
}

// TestHDF5Gaps: frames that were not written give events or skips, never frames.
func TestHDF5Gaps(t *testing.T) {
	for _, c := range []struct {
		dataset, told string
		frames        int
	}{
		{"g3/room", "unwritten_frames missing_frame", 3},
		{"g3/halves", "missing_chunks", 3},
	} {
		s := openRecording(t, "hdf5", fmt.Sprintf("{path: %q, dataset: %s, dt: 1}", h5py(t, "latest.h5"), c.dataset))
		frames, told := ingesttest.ReadAll(t, s)
		for _, f := range frames {
			told = append(told, f.Events...)
		}
		want := strings.Fields(c.told)
		slices.Sort(want)
		slices.Sort(told)
		if len(frames) != c.frames || !slices.Equal(told, want) {
			t.Errorf("%s: %d frames, told %v; %d and %v expected", c.dataset, len(frames), told, c.frames, want)
		}
	}
}

// TestFinishedRefused: Open, or New before it, returns an error of one line for a source that cannot be read.
func TestFinishedRefused(t *testing.T) {
	file, text := h5py(t, "earliest.h5"), ingesttest.Write(t, filepath.Join(t.TempDir(), "a.h5"), []byte("a text"))
	for _, c := range []struct{ kind, options, want string }{
		{"hdf5", "{}", "path is missing"},
		{"czi", "{path: x, channel: -1}", "channel is -1 and slice is 0, numbers from 1 expected"},
		{"nd2", "{path: x, dt: 1, fps: 1}", "give one of them"},
		{"czi", "{path: x, follow: true}", "follow"},
		{"nd2", "{path: " + text + "none}", "no such file"},
		{"hdf5", "{path: " + text + "}", "no HDF5 signature"},
		{"czi", "{path: " + text + "}", "torn"},
		{"nd2", "{path: " + text + "}", "begins with"},
		{"hdf5", "{path: " + file + ", dataset: nowhere}", "no dataset /nowhere, the file has /g0/big [5 11 13], "},
		{"hdf5", "{path: " + file + ", dataset: g2/channels}", "also give the channel, 1 to 2, as hdf5:" + file + "?channel=1&slice=1"},
		{"hdf5", "{path: " + file + ", dataset: g2/channels, channel: 3}", "channel is 3, 1 to 2 expected"},
		{"hdf5", "{path: " + file + ", dataset: g3/empty}", "has room for 6 frames, but none was written"},
		{"czi", "{path: " + cziFile(t, ingesttest.CZIFilm(2, 2, 1), func(f *ingesttest.CZI) {
			f.Metadata = `<a><Metadata><Information><Image><Dimensions><Channels><Channel Name="DA&#10;PI"/></Channels></Dimensions></Image></Information></Metadata></a>`
		}) + "}", "also give the channel, 1 to 2 (channel 1 is DA\ufffdPI), as czi:"},
	} {
		s, err := construct(c.kind, ingesttest.DecodeYAML(c.options))
		if err == nil {
			err = s.Open(context.Background())
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') && !strings.Contains(c.options, "follow") {
			t.Errorf("%s %s: %v, one line with %q expected", c.kind, c.options, err, c.want)
		}
	}
}

// TestFinishedOptions: options after a file's name are parsed.
func TestFinishedOptions(t *testing.T) {
	options, err := HDF5Options("a b.h5?dataset=/x/y&axes=txy&channel=2")
	if err != nil || fmt.Sprint(options) != "map[axes:txy channel:2 dataset:/x/y path:a b.h5]" {
		t.Errorf("%v, %v", options, err)
	}
	for text, of := range map[string]func(string) (map[string]any, error){"czi": CZIOptions, "nd2": ND2Options} {
		options, err := of("a." + text + "?channel=2&slice=3")
		if err != nil || fmt.Sprint(options) != "map[channel:2 path:a."+text+" slice:3]" {
			t.Errorf("%v, %v", options, err)
		}
		if _, err := of("a?dataset=x"); err == nil || !strings.Contains(err.Error(), "dataset=x, a number of a channel or slice expected: give "+text+":FILE?channel=2&slice=1") {
			t.Errorf("%v, the form expected", err)
		}
	}
}
