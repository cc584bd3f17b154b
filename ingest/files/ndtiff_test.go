package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

// nd writes an NDTiff like Micro-Manager: both files have their full length first, and an index entry is written after its pixels.
type nd struct {
	index, pixels *os.File
	at, entry     int64
}

func newND(t testing.TB, folder string) *nd {
	t.Helper()
	w := &nd{at: 508}
	for name, f := range map[string]**os.File{tiff.NDIndexName: &w.index, "a_NDTiffStack.tif": &w.pixels} {
		var err error
		if *f, err = os.Create(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		if err := (*f).Truncate(1 << 20); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { (*f).Close() })
	}
	return w
}

// put writes the pixels and the metadata of a 16-bit image, and returns its entry.
func (w *nd) put(t testing.TB, axes, metadata string, p *tiff.Image) (entry []byte) {
	t.Helper()
	le := binary.LittleEndian
	offset := w.at
	w.at += w.write(t, w.pixels, p.Pix, w.at)
	text := w.at
	w.at += w.write(t, w.pixels, []byte(metadata), w.at)
	for _, s := range []string{axes, "a_NDTiffStack.tif"} {
		entry = append(le.AppendUint32(entry, uint32(len(s))), s...)
	}
	kind := map[tiff.Depth]int{tiff.Uint8: 0, tiff.Uint16: 4}[p.Depth]
	if p.Channels == 3 {
		kind = 2
	}
	for _, n := range []int{int(offset), p.Width, p.Height, kind, 0, int(text), len(metadata), 0} {
		entry = le.AppendUint32(entry, uint32(n))
	}
	return entry
}

// add writes an image and its entry.
func (w *nd) add(t testing.TB, axes, metadata string, p *tiff.Image) {
	t.Helper()
	w.entry += w.write(t, w.index, w.put(t, axes, metadata, p), w.entry)
}

func (w *nd) write(t testing.TB, f *os.File, data []byte, at int64) int64 {
	t.Helper()
	n, err := f.WriteAt(data, at)
	if err != nil {
		t.Fatal(err)
	}
	return int64(n)
}

// finish cuts the files to what was written, as Micro-Manager does at the end.
func (w *nd) finish(t testing.TB) {
	t.Helper()
	if err := errors.Join(w.index.Truncate(w.entry), w.pixels.Truncate(w.at)); err != nil {
		t.Fatal(err)
	}
}

func TestNDTiff(t *testing.T) {
	dir := t.TempDir()
	w := newND(t, dir)
	for step := range 3 {
		for channel, name := range []string{"DAPI", "FITC"} {
			v := byte(10*step + channel)
			w.add(t, fmt.Sprintf(`{"channel":%q,"time":%d}`, name, 2*step), fmt.Sprintf(`{"ElapsedTime-ms": %d}`, 1000+40*step+channel), ingesttest.Page(5, 3, 1, tiff.Uint16, v))
		}
	}
	for _, finished := range []bool{false, true} {
		if finished {
			w.finish(t)
		}
		if IndexFolder(dir) != dir {
			t.Errorf("the index is in %q, expected in %s", IndexFolder(dir), dir)
		}
		s := openRecording(t, "ndtiff", "{path: "+dir+", axes: {channel: FITC}}")
		if !s.Info().Timed || s.Info().Frames != 3 {
			t.Errorf("timed %v, %d frames; true and 3 expected", s.Info().Timed, s.Info().Frames)
		}
		frames, skipped := ingesttest.ReadAll(t, s)
		want := []ingesttest.Seen{
			{Seq: 0, T: 0, File: "a_NDTiffStack.tif", Corner: []float64{0x101}},
			{Seq: 1, T: 0.04, File: "a_NDTiffStack.tif", Corner: []float64{0xb0b}},
			{Seq: 2, T: 0.08, File: "a_NDTiffStack.tif", Corner: []float64{0x1515}},
		}
		if !reflect.DeepEqual(frames, want) || len(skipped) != 0 {
			t.Errorf("%+v, skipped %v;\n%+v expected", frames, skipped, want)
		}
	}
	options, err := NDTiffOptions(dir + "?channel=FITC&z=3")
	if want := map[string]any{"path": dir, "axes": map[string]any{"channel": "FITC", "z": "3"}}; err != nil || !reflect.DeepEqual(options, want) {
		t.Errorf("%v, %v; %v expected", options, err, want)
	}
	frames, _ := ingesttest.ReadAll(t, openRecording(t, "ndtiff", "{path: "+dir+", axes: {channel: DAPI}, dt: 0.5}"))
	if len(frames) != 3 || frames[2].T != 2 { // step 4 of the time axis
		t.Errorf("with dt: %+v, the third at 2 s expected", frames)
	}
	for _, c := range []struct{ axes, want string }{
		{"{}", "each time has several images, along channel (DAPI, FITC): choose one with axes: {channel: DAPI}, or on the command line with ndtiff:FOLDER?channel=DAPI"},
		{"{channel: TRITC}", "no image has axes map[channel:TRITC], the recording has channel (DAPI, FITC)"},
		{"{z: 0}", "there is no axis z, the recording has channel (DAPI)"},
		{"{time: 0}", "leave it out"},
		{"{z: [1]}", "a whole number or a name expected"},
	} {
		s, err := NewNDTiff(ingesttest.DecodeYAML("{path: " + dir + ", axes: " + c.axes + "}"))
		if err == nil {
			err = s.Open(context.Background())
			s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("axes %s: %v, one line with %q expected", c.axes, err, c.want)
		}
	}
}

// TestNDTiffTimes: the computer's microseconds take precedence over the acquisition's milliseconds, and times that do not increase are ignored.
func TestNDTiffTimes(t *testing.T) {
	const received = `{"TimeReceivedByCore": "2023-02-18 18:21:40.%06d", "ElapsedTime-ms": 0}`
	for _, c := range []struct {
		name     string
		metadata func(i int) string
		timed    bool
		times    []float64
		skipped  []string
	}{
		{"received", func(i int) string { return fmt.Sprintf(received, 10250*i) }, true, []float64{0, 0.01025, 0.0205}, nil},
		{"elapsed", func(i int) string { return fmt.Sprintf(`{"ElapsedTime-ms": %d.5}`, 20*i) }, true, []float64{0, 0.02, 0.04}, nil},
		{"standing still", func(int) string { return `{"ElapsedTime-ms": 3}` }, false, []float64{0, 1, 2}, nil},
		{"none", func(int) string { return "{}" }, false, []float64{0, 1, 2}, nil},
		{"back", func(i int) string { return fmt.Sprintf(`{"ElapsedTime-ms": %d}`, []int{0, 30, 20}[i]) }, true, []float64{0, 0.03}, []string{"out_of_order"}},
		{"damaged", func(i int) string { return []string{`{"ElapsedTime-ms": 0}`, `{"ElapsedTime-ms": 9}`, "{"}[i] }, true, []float64{0, 0.009}, []string{"unreadable_image"}},
	} {
		dir := t.TempDir()
		w := newND(t, dir)
		for i := range 3 {
			w.add(t, fmt.Sprintf(`{"time":%d}`, i), c.metadata(i), ingesttest.Page(5, 3, 1, tiff.Uint8, 1))
		}
		s := openRecording(t, "ndtiff", "{path: "+dir+"}")
		frames, skipped := ingesttest.ReadAll(t, s)
		var times []float64
		for _, f := range frames {
			times = append(times, f.T)
		}
		near := func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 } // a microsecond, the clock's own step
		if s.Info().Timed != c.timed || !slices.EqualFunc(times, c.times, near) || !reflect.DeepEqual(skipped, c.skipped) {
			t.Errorf("%s: timed %v, times %v, skipped %v; %v, %v, %v expected", c.name, s.Info().Timed, times, skipped, c.timed, c.times, c.skipped)
		}
	}
}

// TestNDTiffTorn: the images before a tear are returned, and then an error about the tear.
func TestNDTiffTorn(t *testing.T) {
	dir := t.TempDir()
	w := newND(t, dir)
	for i := range 3 {
		w.add(t, fmt.Sprintf(`{"time":%d}`, i), "{}", ingesttest.Page(5, 3, 1, tiff.Uint16, byte(i)))
	}
	w.finish(t)
	if err := w.index.Truncate(w.entry - 7); err != nil {
		t.Fatal(err)
	}
	s := openRecording(t, "ndtiff", "{path: "+dir+", dt: 1}")
	for range 2 {
		f, err := s.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if _, err := s.Read(context.Background()); !errors.Is(err, tiff.ErrTornFolder) {
		t.Errorf("%v, a torn index expected", err)
	}
	if err := errors.Join(w.index.Truncate(0), w.pixels.Truncate(600)); err != nil {
		t.Fatal(err)
	}
	w.entry = 0
	w.at = 508
	w.add(t, `{"time":0}`, "{}", ingesttest.Page(5, 3, 1, tiff.Uint16, 1))
	w.add(t, `{"time":1}`, "{}", ingesttest.Page(5, 3, 1, tiff.Uint16, 1))
	if err := w.pixels.Truncate(w.at - 20); err != nil {
		t.Fatal(err)
	}
	frames, skipped := ingesttest.ReadAll(t, openRecording(t, "ndtiff", "{path: "+dir+", dt: 1}"))
	if len(frames) != 1 || !reflect.DeepEqual(skipped, []string{"unreadable_image"}) {
		t.Errorf("%d frames, skipped %v; one and unreadable_image expected", len(frames), skipped)
	}
}

// TestNDTiffCorpus reads all images along all axes of every recording of Micro-Manager in the corpus, and compares them with the manifest.
func TestNDTiffCorpus(t *testing.T) {
	folder, files := ingesttest.Corpus(t)
	sets := 0
	for name, l := range files {
		path := filepath.Join(folder, filepath.Dir(name))
		if !strings.HasSuffix(name, "_NDTiffStack.tif") {
			continue
		}
		sets++
		all := ingesttest.Measured{Low: 1 << 16}
		for _, axes := range choices(t, path) {
			m := ingesttest.Measure(t.Context(), NewNDTiff, fmt.Sprintf("{path: %q, axes: %s}", path, axes))
			if m.Err != nil {
				t.Errorf("%s %s: %v", name, axes, m.Err)
			}
			all.Frames += m.Frames
			all.Height, all.Width, all.Kind = m.Height, m.Width, m.Kind
			all.Low, all.High = min(all.Low, m.Low), max(all.High, m.High)
		}
		if !l.Decoded { // the 11 bits of version 3.2
			l.Low, l.High = all.Low, min(all.High, 1<<11-1)
		}
		all.Compare(t, name, l)
		if IndexFolder(strings.TrimSuffix(path, "/Full resolution")) == "" {
			t.Errorf("%s: no index is found", path)
		}
	}
	if sets != 7 {
		t.Errorf("%d sets, 7 expected", sets)
	}
}

// TestNDTiffPending: images that the index lists before their bytes are visible keep their own times.
func TestNDTiffPending(t *testing.T) {
	for name, hide := range map[string]func(stack string) error{
		"missing": os.Remove,
		"short":   func(stack string) error { return os.Truncate(stack, 600) },
	} {
		dir := t.TempDir()
		w := newND(t, dir)
		for i := range 3 {
			w.add(t, fmt.Sprintf(`{"time":%d}`, i), fmt.Sprintf(`{"ElapsedTime-ms": %d}`, 40*i), ingesttest.Page(5, 3, 1, tiff.Uint16, byte(i)))
		}
		stack := w.pixels.Name()
		whole, err := os.ReadFile(stack)
		if err == nil {
			err = hide(stack)
		}
		if err != nil {
			t.Fatal(err)
		}
		s := openRecording(t, "ndtiff", "{path: "+dir+", follow: true, until_idle: 500ms}")
		time.AfterFunc(100*time.Millisecond, func() { ingesttest.Write(t, stack, whole) })
		frames, skipped := ingesttest.ReadAll(t, s)
		if len(frames) != 3 || len(skipped) != 0 || frames[2].T != 0.08 || len(frames[0].Events) != 0 {
			t.Errorf("%s: %+v, skipped %v; 3 frames in steps of 0.04 s expected", name, frames, skipped)
		}
	}
}

// TestNDTiffCorpusGrows copies a recording of Micro-Manager image by image into files of full length, while the source follows the copy.
func TestNDTiffCorpusGrows(t *testing.T) {
	folder, _ := ingesttest.Corpus(t)
	from, to := filepath.Join(folder, "micromanager-ndtiff/v3/ndtiff3.2_11bit_1"), t.TempDir()
	stack := "ndtiff3.2_11bit_NDTiffStack.tif"
	index, err := os.ReadFile(filepath.Join(from, tiff.NDIndexName))
	if err != nil {
		t.Fatal(err)
	}
	pixels, err := os.ReadFile(filepath.Join(from, stack))
	if err != nil {
		t.Fatal(err)
	}
	const n = 10
	entry, image := len(index)/n, len(pixels)/n+1
	toIndex, toStack := create(t, filepath.Join(to, tiff.NDIndexName)), create(t, filepath.Join(to, stack))
	if err := errors.Join(toIndex.Truncate(25<<20), toStack.Truncate(4<<30-1)); err != nil {
		t.Fatal(err)
	}
	whole := ingesttest.Measure(t.Context(), NewNDTiff, "{path: "+from+"}")
	go func() {
		for i := range n + 1 { // the pixels of image i lie before the end of its part of the file
			put(t, []piece{{toStack, int64(i * image), pixels[min(i*image, len(pixels)):min((i+1)*image, len(pixels))]}}, 0)
			if i > 0 {
				put(t, []piece{{toIndex, int64((i - 1) * entry), index[(i-1)*entry : i*entry]}}, 0)
			}
		}
	}()
	grown := ingesttest.Measure(t.Context(), NewNDTiff, "{path: "+to+", follow: true, until_idle: 1s}")
	if grown != whole || grown.Frames != n {
		t.Errorf("%+v while it grew, %+v when it was whole", grown, whole)
	}
}

// choices returns the axes other than time of all images in a folder.
func choices(t *testing.T, folder string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, tiff.NDIndexName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found := map[string]bool{}
	for index := tiff.NewNDIndex(f); ; {
		e, err := index.Next()
		if err == io.EOF {
			return slices.Sorted(maps.Keys(found))
		}
		if err != nil {
			t.Fatal(err)
		}
		delete(e.Axes, "time")
		var axes []string
		for name, value := range e.Axes {
			axes = append(axes, name+": "+value)
		}
		slices.Sort(axes)
		found["{"+strings.Join(axes, ", ")+"}"] = true
	}
}
