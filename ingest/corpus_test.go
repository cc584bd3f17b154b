package ingest

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/pipeline"
)

// listed is what tifffile made of a file of the corpus.
type listed struct {
	pages     string
	shape     string // of the first page: (height, width), (height, width, samples) or (samples, height, width)
	dtype     string
	decoded   bool
	low, high float64 // where it was decoded
}

var decodedBy = regexp.MustCompile(`^decoded \([0-9, ]*\) \w+ (.+)\.\.(.+)$`)

// corpus reads MANIFEST.tsv.
func corpus(t *testing.T) (folder string, files map[string]listed) {
	data := os.Getenv("DRIFTSCOPE_DATA")
	if data == "" {
		t.Skip("DRIFTSCOPE_DATA is not set: it names the folder of real recordings")
	}
	folder = filepath.Join(data, "tiff-corpus")
	f, err := os.Open(filepath.Join(folder, "MANIFEST.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.Comma, table.LazyQuotes = '\t', true
	rows, err := table.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]listed{}
	for _, row := range rows[1:] {
		l := listed{pages: row[3], shape: row[4], dtype: row[5]}
		if m := decodedBy.FindStringSubmatch(row[9]); m != nil {
			l.decoded, l.low, l.high = true, level(t, m[1]), level(t, m[2])
		}
		files[row[0]] = l
	}
	return folder, files
}

// level reads a number as tifffile prints it; black and white are 0 and 255 here.
func level(t *testing.T, text string) float64 {
	switch text {
	case "False":
		return 0
	case "True":
		return 255
	}
	if i := strings.IndexByte(text, 'j'); i >= 0 { // complex: refused anyway
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// matTypes are what tifffile's types become.
var matTypes = map[string]gocv.MatType{
	"bool": gocv.MatTypeCV8U, "uint8": gocv.MatTypeCV8U, "uint16": gocv.MatTypeCV16U, "uint32": gocv.MatTypeCV32F,
	"int8": gocv.MatTypeCV32F, "int16": gocv.MatTypeCV32F, "int32": gocv.MatTypeCV32F,
	"float32": gocv.MatTypeCV32F, "float64": gocv.MatTypeCV32F,
}

// measured is what came out of a source.
type measured struct {
	frames        int
	height, width int
	kind          gocv.MatType // of the first frame
	low, high     float64
	err           error
}

func measure(ctx context.Context, kind, options string) (m measured) {
	s, err := New(kind, decodeYAML(options))
	if err == nil {
		err = s.Open(ctx)
	}
	if err != nil {
		if s != nil {
			s.Close()
		}
		return measured{err: err}
	}
	defer s.Close()
	for {
		f, err := s.Read(ctx)
		var skip *pipeline.ErrSkip
		switch {
		case err == io.EOF:
			return m
		case errors.As(err, &skip):
			m.err = cmp.Or(m.err, err)
			continue
		case err != nil:
			m.err = err
			return m
		}
		flat := f.Mat().Reshape(1, 0)
		low, high, _, _ := gocv.MinMaxLoc(flat)
		flat.Close()
		if m.frames++; m.frames == 1 {
			m.height, m.width, m.kind = f.Mat().Rows(), f.Mat().Cols(), f.Mat().Type()
			m.low, m.high = float64(low), float64(high)
		}
		m.low, m.high = min(m.low, float64(low)), max(m.high, float64(high))
		f.Close()
	}
}

// TestCorpus: every file is known by what it begins with and ends in pixels or in an error of one line, soon and in bounded memory.
// What the manifest says was decoded has its shape, type, minimum and maximum here, or is refused by name.
func TestCorpus(t *testing.T) {
	const (
		effort   = 5 * time.Second // of the processor: a busy machine may take its time
		patience = time.Minute
		memory   = 1 << 30
	)
	folder, files := corpus(t)
	pixels, agreed := 0, 0
	for name, l := range files {
		// A name says nothing: neither that of the link nor, for most of these, that of the file.
		link := filepath.Join(t.TempDir(), "recording")
		if err := os.Symlink(filepath.Join(folder, name), link); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		before := worked(t)
		kind, _, err := Guess(link)
		var m measured
		if err != nil {
			m.err = err
		} else if m = measure(ctx, kind, "{path: "+link+"}"); kind != "tiff" {
			t.Errorf("%s: kind %s, tiff expected", name, kind)
		}
		if took := worked(t) - before; ctx.Err() != nil || took > effort {
			t.Errorf("%s: not read within %v, or %v of work", name, patience, effort)
		}
		cancel()
		switch {
		case m.err != nil && strings.ContainsRune(m.err.Error(), '\n'):
			t.Errorf("%s: the error is not one line: %q", name, m.err)
		case m.err == nil && m.frames == 0:
			t.Errorf("%s: neither pixels nor an error", name)
		case m.err == nil && l.decoded:
			m.compare(t, name, l)
			agreed++
		}
		if m.frames > 0 {
			pixels++
		}
	}
	if peak := peakMemory(t); peak > memory {
		t.Errorf("%d bytes of memory were resident, at most %d expected", peak, memory)
	}
	t.Logf("%d of %d files gave pixels, %d as the manifest says", pixels, len(files), agreed)
	// The others are refused by name (CMYK, half floats, 64-bit counts, palettes of 16 bits) or damaged on purpose.
	if agreed < 100 {
		t.Errorf("%d files agree with the manifest, at least 100 expected", agreed)
	}
}

func (m *measured) compare(t *testing.T, name string, l listed) {
	var shape []int
	for word := range strings.FieldsFuncSeq(l.shape, func(r rune) bool { return r < '0' || r > '9' }) {
		v, _ := strconv.Atoi(word)
		shape = append(shape, v)
	}
	samples := 1
	switch {
	case len(shape) == 3 && shape[0] <= 4 && shape[2] > 4:
		shape, samples = shape[1:], shape[0]
	case len(shape) == 3:
		samples = shape[2]
	}
	if m.height != shape[0] || m.width != shape[1] || m.kind&7 != matTypes[l.dtype] {
		t.Errorf("%s: %dx%d of type %v, %s of %s expected", name, m.height, m.width, m.kind, l.shape, l.dtype)
	}
	if strconv.Itoa(m.frames) != l.pages {
		t.Errorf("%s: %d frames, %s expected", name, m.frames, l.pages)
	}
	if palette := samples == 1 && m.kind>>3 == 2; palette || samples == 2 || samples == 4 {
		return // colours in place of indices, alpha dropped: other values than tifffile's
	}
	if m.low != float64(float32(l.low)) || m.high != float64(float32(l.high)) {
		t.Errorf("%s: values %v..%v, %v..%v expected", name, m.low, m.high, l.low, l.high)
	}
}

// worked is how long the processor has worked for this process.
func worked(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peakMemory is the most that this process had resident.
func peakMemory(t *testing.T) (n int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skipf("no account of resident memory here: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &n); err == nil {
			return n << 10
		}
	}
	t.Fatal("no VmHWM in /proc/self/status")
	return 0
}
