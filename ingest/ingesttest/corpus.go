package ingesttest

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// Listed describes a corpus file as tifffile read it.
type Listed struct {
	pages     string
	shape     string // shape of the first page: (height, width), (height, width, samples) or (samples, height, width)
	dtype     string
	Decoded   bool
	Low, High float64 // set if tifffile decoded it
}

var decodedBy = regexp.MustCompile(`^decoded \([0-9, ]*\) \w+ (.+)\.\.(.+)$`)

// Corpus reads MANIFEST.tsv of the corpus in DRIFTSCOPE_DATA. It skips the test if this variable is unset.
func Corpus(t *testing.T) (folder string, files map[string]Listed) {
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
	files = map[string]Listed{}
	for _, row := range rows[1:] {
		l := Listed{pages: row[3], shape: row[4], dtype: row[5]}
		if m := decodedBy.FindStringSubmatch(row[9]); m != nil {
			l.Decoded, l.Low, l.High = true, level(t, m[1]), level(t, m[2])
		}
		files[row[0]] = l
	}
	return folder, files
}

// level parses a number as tifffile prints it. It maps False to 0 and True to 255.
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

// matTypes maps tifffile's type names to Mat types.
var matTypes = map[string]frame.MatType{
	"bool": frame.MatTypeCV8U, "uint8": frame.MatTypeCV8U, "uint16": frame.MatTypeCV16U, "uint32": frame.MatTypeCV32F,
	"int8": frame.MatTypeCV32F, "int16": frame.MatTypeCV32F, "int32": frame.MatTypeCV32F,
	"float32": frame.MatTypeCV32F, "float64": frame.MatTypeCV32F,
}

// Measured summarises the frames of a source.
type Measured struct {
	Frames        int
	Height, Width int
	Kind          frame.MatType // of the first frame
	Low, High     float64
	Err           error
}

// Measure reads a source to its end.
func Measure(ctx context.Context, construct Constructor, options string) (m Measured) {
	s, err := construct(DecodeYAML(options))
	if err == nil {
		err = s.Open(ctx)
	}
	if err != nil {
		if s != nil {
			s.Close()
		}
		return Measured{Err: err}
	}
	defer s.Close()
	for {
		f, err := s.Read(ctx)
		var skip *pipeline.ErrSkip
		switch {
		case err == io.EOF:
			return m
		case errors.As(err, &skip):
			m.Err = cmp.Or(m.Err, err)
			continue
		case err != nil:
			m.Err = err
			return m
		}
		low, high := extremes(f.Mat())
		if m.Frames++; m.Frames == 1 {
			m.Height, m.Width, m.Kind = f.Mat().Rows(), f.Mat().Cols(), f.Mat().Type()
			m.Low, m.High = low, high
		}
		m.Low, m.High = min(m.Low, low), max(m.High, high)
		f.Close()
	}
}

// extremes returns the lowest and the highest value.
func extremes(m *frame.Mat) (low, high float64) {
	switch m.Type() & 7 {
	case frame.MatTypeCV8U:
		return between(m.DataPtrUint8())
	case frame.MatTypeCV16U:
		return between(m.DataPtrUint16())
	}
	return between(m.DataPtrFloat32())
}

func between[T uint8 | uint16 | float32](values []T, err error) (low, high float64) {
	if err != nil || len(values) == 0 {
		return 0, 0
	}
	return float64(slices.Min(values)), float64(slices.Max(values))
}

// Compare compares the measured file with tifffile's reading.
func (m *Measured) Compare(t *testing.T, name string, l Listed) {
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
	if m.Height != shape[0] || m.Width != shape[1] || m.Kind&7 != matTypes[l.dtype] {
		t.Errorf("%s: %dx%d of type %v, %s of %s expected", name, m.Height, m.Width, m.Kind, l.shape, l.dtype)
	}
	if strconv.Itoa(m.Frames) != l.pages {
		t.Errorf("%s: %d frames, %s expected", name, m.Frames, l.pages)
	}
	if palette := samples == 1 && m.Kind>>3 == 2; palette || samples == 2 || samples == 4 {
		return // values differ from tifffile's, because colours replace palette indices and alpha is dropped
	}
	if m.Low != float64(float32(l.Low)) || m.High != float64(float32(l.High)) {
		t.Errorf("%s: values %v..%v, %v..%v expected", name, m.Low, m.High, l.Low, l.High)
	}
}
