package tiff

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// listed is one line of the corpus' MANIFEST.tsv, which describes a file as tifffile read it.
type listed struct {
	file        string
	pages       int
	first       []int // shape of the first page
	dtype       string
	compression string
	result      string
}

var decodedBy = regexp.MustCompile(`^decoded \(([0-9, ]*)\) \w+ (.+)\.\.(.+)$`)

// readable reports whether this package must read the file, too.
func (l listed) readable() bool {
	dtypes := []string{"bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "float32", "float64"}
	codings := []string{"1", "5", "8", "32946", "32773"}
	unread := regexp.MustCompile(`cmyk|separated|palette-16|invalid-palette|fuzz_images`) // unsupported colours; files damaged on purpose
	return decodedBy.MatchString(l.result) && slices.Contains(dtypes, l.dtype) && slices.Contains(codings, l.compression) && !unread.MatchString(l.file)
}

// extremes returns the smallest and the largest value that tifffile found.
func (l listed) extremes(t *testing.T) (low, high float64) {
	found := decodedBy.FindStringSubmatch(l.result)
	number := func(s string) float64 {
		switch s {
		case "False":
			return 0
		case "True":
			return 255
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	return number(found[2]), number(found[3])
}

func corpus(t *testing.T) (folder string, files []listed) {
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
	table.Comma, table.LazyQuotes, table.FieldsPerRecord = '\t', true, -1
	rows, err := table.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		l := listed{file: row[0], dtype: row[5], compression: row[6], result: row[9]}
		l.pages, _ = strconv.Atoi(row[3]) // empty if tifffile could not open the file
		l.first = numbers(row[4])
		files = append(files, l)
	}
	return folder, files
}

func numbers(s string) (n []int) {
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return r < '0' || r > '9' }) {
		v, _ := strconv.Atoi(word)
		n = append(n, v)
	}
	return n
}

// TestCorpus: every file gives pixels or an error of one line, quickly and in bounded memory. A file that tifffile reads and this package supports has the same
// shape and values.
func TestCorpus(t *testing.T) {
	const (
		patience = 20 * time.Second // the slowest file takes well under a second, an endless loop forever
		memory   = 256 << 20        // the largest page is 4 MB
	)
	folder, files := corpus(t)
	if len(files) != 375 {
		t.Fatalf("%d files listed, 375 expected", len(files))
	}
	pixels, refused, agreed := 0, 0, 0
	for _, l := range files {
		t.Run(l.file, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			seen := survey(ctx, filepath.Join(folder, l.file))
			runtime.ReadMemStats(&after)
			if ctx.Err() != nil {
				t.Fatalf("not read within %v", patience)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > memory {
				t.Errorf("%d bytes were allocated, at most %d expected", grown, memory)
			}
			switch {
			case seen.err != nil && strings.ContainsRune(seen.err.Error(), '\n'):
				t.Errorf("the error is not one line: %q", seen.err)
			case errors.Is(seen.err, os.ErrNotExist):
				t.Error(seen.err)
			}
			if seen.pages > 0 {
				pixels++
			} else {
				refused++
			}
			if l.readable() {
				seen.compare(t, l)
				agreed++
			}
		})
	}
	t.Logf("%d files gave pixels, %d errors; %d agree with tifffile", pixels, refused, agreed)
}

// found is the result of reading a file with this package.
type found struct {
	pages     int
	shape     [3]int // of the first page: height, width, channels
	low, high float64
	palette   bool
	err       error // the first error
}

func survey(ctx context.Context, path string) (s found) {
	file, err := os.Open(path)
	if err != nil {
		return found{err: err}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return found{err: err}
	}
	f, err := Open(file, info.Size())
	if err != nil {
		return found{err: err}
	}
	s.low, s.high = math.Inf(1), math.Inf(-1)
	var img Image
	for ctx.Err() == nil {
		switch err := f.Next(&img); {
		case err == io.EOF:
			return s
		case err != nil && s.err == nil:
			s.err = err
		case err == nil:
			s.add(&img)
			s.palette = f.page.photometric == palette
		}
	}
	return s
}

func (s *found) add(img *Image) {
	if s.pages++; s.pages == 1 {
		s.shape = [3]int{img.Height, img.Width, img.Channels}
	}
	for y := range img.Height {
		for x := range img.Width {
			for c := range img.Channels {
				v := img.at(x, y, c)
				s.low, s.high = min(s.low, v), max(s.high, v)
			}
		}
	}
}

func (s *found) compare(t *testing.T, l listed) {
	if s.err != nil {
		t.Errorf("%v, %s expected", s.err, l.result)
		return
	}
	height, width, samples, known := plain(l.first)
	channels := 1
	if s.palette || samples >= 3 {
		channels = 3
	}
	if !known || s.shape != [3]int{height, width, channels} {
		t.Errorf("the first page is %v, %v expected", s.shape, l.first)
	}
	if s.pages != l.pages {
		t.Errorf("%d pages, %d expected", s.pages, l.pages)
	}
	// Values differ from tifffile's for palettes, which become colours, and for alpha, which is dropped.
	if s.palette || samples == 2 || samples == 4 {
		return
	}
	low, high := l.extremes(t)
	if s.low != float64(float32(low)) || s.high != float64(float32(high)) {
		t.Errorf("values are %v..%v, %v..%v expected", s.low, s.high, low, high)
	}
}

// plain reads tifffile's shape of a page: (height, width), (height, width, samples) or (samples, height, width).
func plain(shape []int) (height, width, samples int, known bool) {
	switch {
	case len(shape) == 2:
		return shape[0], shape[1], 1, true
	case len(shape) == 3 && shape[0] <= 4 && shape[2] > 4:
		return shape[1], shape[2], shape[0], true
	case len(shape) == 3:
		return shape[0], shape[1], shape[2], true
	}
	return 0, 0, 0, false
}

// TestCorpusFollowed: a file that grows in steps gives the same pages as the complete file, for files of all writers.
func TestCorpusFollowed(t *testing.T) {
	folder, files := corpus(t)
	followed := 0
	for _, l := range files {
		if !l.readable() {
			continue
		}
		file, err := os.ReadFile(filepath.Join(folder, l.file))
		if err != nil {
			t.Fatal(err)
		}
		whole, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Errorf("%s: %v", l.file, err)
			continue
		}
		size, step := int64(0), int64(len(file)/7+1)
		growing := Follow(bytes.NewReader(file), func() (int64, error) { return size, nil })
		var got, want Image
		for pages := 0; ; {
			err := growing.Next(&got)
			switch {
			case err == ErrPending && size < int64(len(file)):
				size = min(size+step, int64(len(file)))
				continue
			case err == ErrPending:
				growing.Finish()
				continue
			}
			if end := whole.Next(&want); err != end || err == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s: page %d: %v and other pixels than when it is whole (%v)", l.file, pages+1, err, end)
			}
			if err != nil {
				break
			}
			pages++
		}
		followed++
	}
	if followed < 100 {
		t.Errorf("%d files were followed, at least 100 expected", followed)
	}
}
