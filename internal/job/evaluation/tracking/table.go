package tracking

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// MaxRows is the largest number of rows in a table of tracks.
const MaxRows = 20_000_000

// MostPlace is the largest absolute coordinate, px. Squares and products of larger ones overflow.
const MostPlace = 1e9

// Place reads a coordinate.
func Place(text string) (v float64, err error) {
	if v, err = strconv.ParseFloat(text, 64); err != nil || !(math.Abs(v) <= MostPlace) {
		return 0, fmt.Errorf("%.40q, expected a number of px, at most %g", text, MostPlace)
	}
	return v, nil
}

// maxRow is the largest size of a row in bytes. A row has a few dozen, but an unclosed quotation mark would turn the whole file into one row.
const maxRow = 1 << 20

// Rows calls each with every row of a table of tracks, in the file's order: CSV with a header that names at least frame, particle, x and y, in any
// order; trajectory is a synonym of particle. If there is a column light, rows with 0 in it are dark. Rows returns an error of each with the row's line number.
func Rows(path string, each func(particle int64, at Point) error) error {
	return opened(path, func(r io.Reader) error {
		return rows(r, nil, nil, func(particle int64, at Point, _ []string) error { return each(particle, at) })
	})
}

// RowsWith is like Rows but also passes the values of further columns. values and absent are valid during the call; absent marks the missing columns. The
// map as has the table's own column names, by our names.
func RowsWith(path string, as map[string]string, columns []string, each func(particle int64, at Point, values []string, absent []bool) error) error {
	at, values, absent := make([]int, len(columns)), make([]string, len(columns)), make([]bool, len(columns))
	named := func(header []string) {
		for i, c := range columns {
			at[i] = slices.Index(header, c)
			absent[i] = at[i] < 0
		}
	}
	return opened(path, func(r io.Reader) error {
		return rows(r, as, named, func(particle int64, point Point, row []string) error {
			for i, k := range at {
				if k >= 0 {
					values[i] = row[k]
				}
			}
			return each(particle, point, values, absent)
		})
	})
}

// opened calls fn with a reader of the file at path.
func opened(path string, fn func(io.Reader) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := utf8Only(f)
	if err == nil {
		r, err = unpacked(r)
	}
	if err == nil {
		err = fn(r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// unpacked decompresses a table in gzip format. The limits on rows apply to the decompressed data.
func unpacked(r *bufio.Reader) (*bufio.Reader, error) {
	if mark, _ := r.Peek(2); string(mark) != "\x1f\x8b" {
		return r, nil
	}
	plain, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	return utf8Only(plain)
}

// utf8Only skips the byte order mark of UTF-8, and refuses the mark of UTF-16.
func utf8Only(f io.Reader) (*bufio.Reader, error) {
	r := bufio.NewReader(f)
	mark, err := r.Peek(3)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case string(mark) == "\xef\xbb\xbf":
		r.Discard(len(mark))
	case bytes.HasPrefix(mark, []byte("\xff\xfe")) || bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return nil, errors.New("line 1: text in UTF-16, expected UTF-8: save the table as CSV in UTF-8")
	}
	return r, nil
}

// rows passes the header to named, unless it is nil, and every row to each, parsed and as text. The text is valid during the call.
func rows(r io.Reader, as map[string]string, named func(header []string), each func(particle int64, at Point, row []string) error) error {
	bounded := &boundedRows{from: r}
	rows := csv.NewReader(bounded)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return fmt.Errorf("line 1: no header: %w: expected the columns frame,particle,x,y", err)
	}
	header, err = renamed(header, as)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	at, err := columns(header)
	if err != nil {
		return fmt.Errorf("line 1: %w", err)
	}
	if named != nil {
		named(header)
	}
	for line := 2; ; line++ {
		bounded.taken = 0
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		var torn *csv.ParseError // names its line
		if err != nil && !errors.As(err, &torn) {
			err = fmt.Errorf("line %d: %w", line, err)
		}
		if err != nil {
			return err
		}
		if line > MaxRows {
			return fmt.Errorf("more than %d rows: split the film", MaxRows)
		}
		particle, point, err := parse(row, at)
		if err == nil {
			err = each(particle, point, row)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// parse reads one row.
func parse(row []string, at [len(names)]int) (particle int64, point Point, err error) {
	v := [len(names)]float64{light: 1}
	for i, c := range at {
		if c < 0 {
			continue
		}
		v[i], err = strconv.ParseFloat(row[c], 64)
		if names[i] == "x" || names[i] == "y" {
			v[i], err = Place(row[c])
		} else if err != nil || math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			err = fmt.Errorf("%.40q, expected a number", row[c])
		}
		if err != nil {
			return 0, Point{}, fmt.Errorf("%s is %w", names[i], err)
		}
	}
	if v[0] != math.Trunc(v[0]) || v[0] < 0 || v[0] > math.MaxInt32 || v[1] != math.Trunc(v[1]) || math.Abs(v[1]) > 1<<53 {
		return 0, Point{}, fmt.Errorf("frame %g of particle %g, expected whole numbers, frames from 0", v[0], v[1])
	}
	return int64(v[1]), Point{Frame: int(v[0]), X: v[2], Y: v[3], Dark: v[light] == 0}, nil
}

// boundedRows fails if a row takes more than maxRow bytes.
type boundedRows struct {
	from  io.Reader
	taken int // bytes since the last row
}

// Read reads more bytes while the row is short enough.
func (b *boundedRows) Read(p []byte) (int, error) {
	if b.taken > maxRow {
		return 0, fmt.Errorf("a row of more than %d bytes, expected a few numbers", maxRow)
	}
	n, err := b.from.Read(p)
	b.taken += n
	return n, err
}

// Read returns the tracks of a table in the format of Rows, in the order of their numbers, with points in the order of frames.
func Read(path string) (tracks [][]Point, err error) {
	err = opened(path, func(r io.Reader) (err error) { tracks, err = read(r); return err })
	return tracks, err
}

func read(r io.Reader) ([][]Point, error) {
	byNumber := map[int64][]Point{}
	err := rows(r, nil, nil, func(particle int64, at Point, _ []string) error {
		byNumber[particle] = append(byNumber[particle], at)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return InOrder(byNumber)
}

// InOrder sorts the tracks by their numbers and their points by frames.
func InOrder(byNumber map[int64][]Point) ([][]Point, error) {
	numbers := make([]int64, 0, len(byNumber))
	for n := range byNumber {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	tracks := make([][]Point, 0, len(numbers))
	for _, n := range numbers {
		track := byNumber[n]
		slices.SortStableFunc(track, func(a, b Point) int { return cmp.Compare(a.Frame, b.Frame) })
		for i := 1; i < len(track); i++ {
			if track[i].Frame == track[i-1].Frame {
				return nil, fmt.Errorf("particle %d is twice in frame %d: give every object a number of its own", n, track[i].Frame)
			}
		}
		tracks = append(tracks, track)
	}
	return tracks, nil
}

// renamed returns a header with our names: each key of as replaces the table's name of that column.
func renamed(header []string, as map[string]string) ([]string, error) {
	out := slices.Clone(header)
	for ours, theirs := range as {
		k := slices.Index(header, theirs)
		if k < 0 {
			return nil, fmt.Errorf("found the columns %.200q, expected %q for %s", strings.Join(header, ","), theirs, ours)
		}
		for i, name := range header {
			if name == ours || ours == "particle" && name == "trajectory" {
				out[i] = ""
			}
		}
		out[k] = ours
	}
	return out, nil
}

// names lists the columns to read; the last one is optional.
var names = [...]string{"frame", "particle", "x", "y", "light"}

// light is the index of the optional column.
const light = 4

// columns returns the positions of the names in a header; -1 means missing.
func columns(header []string) (at [len(names)]int, err error) {
	for i, name := range names {
		at[i] = slices.Index(header, name)
		if at[i] < 0 && name == "particle" {
			at[i] = slices.Index(header, "trajectory")
		}
		if at[i] < 0 && i != light {
			return at, fmt.Errorf("found the columns %.200q, expected frame, particle, x and y", strings.Join(header, ","))
		}
		if at[i] >= 0 && slices.Contains(header[at[i]+1:], header[at[i]]) {
			return at, fmt.Errorf("found the column %s twice: leave one out", header[at[i]])
		}
	}
	return at, nil
}
