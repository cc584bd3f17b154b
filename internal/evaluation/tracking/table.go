package tracking

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
)

// MaxRows bounds a table of tracks.
const MaxRows = 20_000_000

// Read reads a table of tracks: CSV with a header that names at least frame, particle, x and y, in any order; trajectory is taken for particle. Where
// there is a column light, rows with 0 there are dark. Tracks come in the order of their numbers, points in that of frames.
func Read(path string) ([][]Point, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tracks, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tracks, nil
}

func read(r io.Reader) ([][]Point, error) {
	rows := csv.NewReader(r)
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("no header: %w: expected the columns frame,particle,x,y", err)
	}
	at, err := columns(header)
	if err != nil {
		return nil, err
	}
	byNumber := map[int64][]Point{}
	for line := 2; ; line++ {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if line > MaxRows {
			return nil, fmt.Errorf("more than %d rows: split the film", MaxRows)
		}
		v := [len(names)]float64{light: 1}
		for i, c := range at {
			if c < 0 {
				continue
			}
			if v[i], err = strconv.ParseFloat(row[c], 64); err != nil || math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
				return nil, fmt.Errorf("line %d: %s is %q, expected a number", line, names[i], row[c])
			}
		}
		if v[0] != math.Trunc(v[0]) || v[0] < 0 || v[0] > math.MaxInt32 || v[1] != math.Trunc(v[1]) || math.Abs(v[1]) > 1<<53 {
			return nil, fmt.Errorf("line %d: frame %g of particle %g, expected whole numbers, frames from 0", line, v[0], v[1])
		}
		byNumber[int64(v[1])] = append(byNumber[int64(v[1])], Point{Frame: int(v[0]), X: v[2], Y: v[3], Dark: v[light] == 0})
	}
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

// names are those of the columns that are read; the last need not be there.
var names = [...]string{"frame", "particle", "x", "y", "light"}

// light is that one's index.
const light = 4

// columns says where they are; -1 is nowhere.
func columns(header []string) (at [len(names)]int, err error) {
	for i, name := range names {
		at[i] = slices.Index(header, name)
		if at[i] < 0 && name == "particle" {
			at[i] = slices.Index(header, "trajectory")
		}
		if at[i] < 0 && i != light {
			return at, fmt.Errorf("found the columns %v, expected frame, particle, x and y", header)
		}
	}
	return at, nil
}
