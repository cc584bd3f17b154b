package files

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/ingest/ingesttest"
)

// unzipped unpacks stores that other programs wrote (ingest/zarr/testdata/SOURCE.txt) and returns their folder.
func unzipped(t testing.TB, name string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	archive, err := zip.OpenReader("../zarr/testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for _, f := range archive.File {
		path := filepath.Join(folder, filepath.FromSlash(f.Name))
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		ingesttest.Write(t, path, data)
	}
	return folder
}

// TestZarr: a store of another program gives the frames of one channel in order, with its own time step.
func TestZarr(t *testing.T) {
	stores := map[string]string{"v2.zip": unzipped(t, "v2.zip"), "v3.zip": unzipped(t, "v3.zip")}
	for _, c := range []struct {
		file, name, options string
		step                float64
		corners             []float64
		events              string
	}{
		{"v2.zip", "blosc-lz4", "channel: 1", 0.02, []float64{0, 1000, 2000}, "described_interval"},
		{"v2.zip", "blosc-lz4", "channel: 2, slice: 1", 0.02, []float64{300, 1300, 2300}, "described_interval"},
		{"v2.zip", "together", "channel: 2, dt: 3", 3, []float64{300, 1300, 2300}, ""},
		{"v2.zip", "gzip", "channel: 1, fps: 100", 0.01, []float64{-2000, -1000, 0}, ""},
		{"v2.zip", "blosc-blocks", "level: 0", 0.02, []float64{0, 100}, "described_interval"},
		{"v3.zip", "sharded", "channel: 2", 0.05, []float64{300, 1300, 2300}, "described_interval"},
	} {
		s := openRecording(t, "zarr", fmt.Sprintf("{path: %q, %s}", filepath.Join(stores[c.file], c.name), c.options))
		if s.Info().Frames != len(c.corners) || !s.Info().Timed {
			t.Errorf("%s: %d frames, timed %v; %d expected", c.name, s.Info().Frames, s.Info().Timed, len(c.corners))
		}
		var frames []ingesttest.Seen
		for n := range c.corners {
			f, err := s.Read(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for i, e := range f.Meta.Events { // the event with the pixel size is not a warning
				if e.Code == "pixel_size" {
					if n > 0 || !strings.Contains(e.Text, "online.pixel_um: 0.1") {
						t.Errorf("%s: frame %d says %s", c.name, n, e.Text)
					}
					f.Meta.Events = slices.Delete(f.Meta.Events, i, i+1)
					break
				}
			}
			frames = append(frames, ingesttest.Look(t, f))
			f.Close()
		}
		for n, f := range frames {
			if f.Corner[0] != c.corners[n] || f.T < c.step*float64(n)-1e-9 || f.T > c.step*float64(n)+1e-9 || n == 0 && strings.Join(f.Events, " ") != c.events {
				t.Errorf("%s: frame %d is %+v, %g at %g s expected, events %s", c.name, n, f, c.corners[n], c.step*float64(n), c.events)
			}
		}
		if _, err := s.Read(context.Background()); err != io.EOF {
			t.Errorf("%s: %v, the end expected", c.name, err)
		}
	}
}

// growZarrV2 is the .zarray of a film of grown frames in two chunks each.
const growZarrV2 = `{"zarr_format":2,"shape":[%d,20,24],"chunks":[1,20,12],"dtype":"<u2","compressor":null,"filters":null,"fill_value":0,"order":"C","dimension_separator":"/"}`

// newStore makes a store without frames that has room for the given number.
func newStore(t testing.TB, room int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "run.zarr")
	if err := os.Mkdir(path, 0o777); err != nil {
		t.Fatal(err)
	}
	ingesttest.Write(t, filepath.Join(path, ".zarray"), fmt.Appendf(nil, growZarrV2, room))
	return path
}

// writeTile writes one of the two chunks of a frame, at once.
func writeTile(t testing.TB, path string, n, tile int) string {
	t.Helper()
	folder := filepath.Join(path, fmt.Sprint(n), "0")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	pix := shot16(n).Pix
	return ingesttest.Write(t, filepath.Join(folder, fmt.Sprint(tile)), pix[:len(pix)/2])
}

// TestZarrGaps: frames that were not written give skips, and are never returned as fill values.
func TestZarrGaps(t *testing.T) {
	for name, c := range map[string]struct {
		room   int
		tiles  map[int][]int
		frames []float64
		told   string
	}{
		"room for more":   {9, map[int][]int{0: {0, 1}, 1: {0, 1}}, []float64{257, 514}, "unwritten_frames no_frame_interval"},
		"a frame missing": {3, map[int][]int{0: {0, 1}, 2: {0, 1}}, []float64{257, 771}, "no_frame_interval missing_frame"},
		"a chunk missing": {3, map[int][]int{0: {0, 1}, 1: {0}, 2: {0, 1}}, []float64{257, 514, 771}, "no_frame_interval missing_chunks"},
		"the last torn":   {9, map[int][]int{0: {0, 1}, 1: {0}}, []float64{257}, "unwritten_frames no_frame_interval torn_frame"},
	} {
		path := newStore(t, c.room)
		for n, tiles := range c.tiles {
			for _, tile := range tiles {
				writeTile(t, path, n, tile)
			}
		}
		frames, told := ingesttest.ReadAll(t, openRecording(t, "zarr", "{path: "+path+"}"))
		var got []float64
		for _, f := range frames {
			got = append(got, f.Corner[0])
			told = append(told, f.Events...)
		}
		want := strings.Fields(c.told)
		slices.Sort(want)
		slices.Sort(told)
		if !slices.Equal(got, c.frames) || !slices.Equal(told, want) {
			t.Errorf("%s: %v told %v, %v and %v expected", name, got, told, c.frames, want)
		}
	}
}

func TestZarrRefused(t *testing.T) {
	others := unzipped(t, "v2.zip")
	file := ingesttest.Write(t, filepath.Join(t.TempDir(), "a.zarr"), []byte("x"))
	for options, want := range map[string]string{
		"{}":                                           "path is missing",
		"{path: x, channel: -1}":                       "channel is -1",
		"{path: x, dt: 1, fps: 1}":                     "give one of them",
		"{path: x, until_idle: 1s}":                    "add follow",
		"{path: " + file + "}":                         "is a file",
		"{path: " + others + "}":                       "no zarr.json, .zarray or .zattrs",
		"{path: " + others + "none}":                   "no such file",
		"{path: " + filepath.Join(others, "raw") + "}": "also give the channel, 1 to 2 (channel 1 is DAPI, 2 is FITC)",
		"{path: " + filepath.Join(others, "raw") + ", channel: 3}":           "channel is 3, 1 to 2 expected",
		"{path: " + filepath.Join(others, "raw") + ", channel: 1, level: 4}": "level is 4",
		"{path: " + newStore(t, 7) + "}":                                     "has room for 7 frames, but none was written",
	} {
		s, err := construct("zarr", ingesttest.DecodeYAML(options))
		if err == nil {
			err = s.Open(context.Background())
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v, one line with %q expected", options, err, want)
		}
	}
}

func TestZarrOptions(t *testing.T) {
	options, err := ZarrOptions("a b.zarr?channel=2&slice=3&level=1")
	if err != nil || fmt.Sprint(options) != "map[channel:2 level:1 path:a b.zarr slice:3]" {
		t.Errorf("%v, %v", options, err)
	}
	if _, err := ZarrOptions("a.zarr?z=3"); err == nil || !strings.Contains(err.Error(), "z=3, a number of a channel or slice or level expected: give zarr:STORE?channel=2&slice=1&level=0") {
		t.Errorf("%v, the form expected", err)
	}
}
