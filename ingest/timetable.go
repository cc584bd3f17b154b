package ingest

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// timetableName is the file beside pictures that says when they were taken.
const timetableName = "frames.csv"

// maxTimetableBytes is room for some ten million frames.
const maxTimetableBytes = 512 << 20

// moment is what the timetable knows of one picture.
type moment struct {
	order      int // of its row
	t          float64
	trajectory uint64
}

// timetable is a frames.csv: columns file (as seen from its folder), t in seconds and, if there are several, trajectory. Other
// columns are not read.
type timetable struct {
	path  string
	names []string // in the order of the rows
	rows  map[string]moment
}

// readTimetable reads the file at path, or returns nil where it does not exist and need not.
func readTimetable(path string, needed bool) (*timetable, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) && !needed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxTimetableBytes {
		return nil, fmt.Errorf("%s is %d bytes long, at most %d expected: split the recording", path, info.Size(), maxTimetableBytes)
	}
	t := &timetable{path: path, rows: map[string]moment{}}
	return t, t.read(csv.NewReader(io.LimitReader(file, maxTimetableBytes)))
}

func (t *timetable) read(rows *csv.Reader) error {
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", t.path, err)
	}
	if len(header) > 0 {
		header[0] = strings.TrimPrefix(header[0], "\ufeff") // spreadsheets put a byte order mark there
	}
	file, at, trajectory := slices.Index(header, "file"), slices.Index(header, "t"), slices.Index(header, "trajectory")
	if file < 0 || at < 0 {
		return fmt.Errorf("%s: the first line is %q, a header with file,t,trajectory expected: add it", t.path, header)
	}
	last := map[uint64]float64{} // time of each trajectory's latest row
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.path, err)
		}
		line, _ := rows.FieldPos(0)
		m := moment{order: len(t.names)}
		if m.t, err = strconv.ParseFloat(row[at], 64); err != nil || !(math.Abs(m.t) <= maxTime) {
			return fmt.Errorf("%s line %d: t is %q, a number of seconds within %g expected: correct it", t.path, line, row[at], float64(maxTime))
		}
		if trajectory >= 0 {
			if m.trajectory, err = strconv.ParseUint(row[trajectory], 10, 64); err != nil {
				return fmt.Errorf("%s line %d: trajectory is %q, a whole number from 0 expected: correct it", t.path, line, row[trajectory])
			}
		}
		if before, some := last[m.trajectory]; some && m.t <= before {
			return fmt.Errorf("%s line %d: t is %g after %g in trajectory %d: sort the rows by time", t.path, line, m.t, before, m.trajectory)
		}
		last[m.trajectory] = m.t
		name := filepath.ToSlash(filepath.Clean(row[file]))
		if _, twice := t.rows[name]; twice {
			return fmt.Errorf("%s line %d: %s is listed twice: remove one of the rows", t.path, line, name)
		}
		t.rows[name] = m
		t.names = append(t.names, name)
	}
}

// name is how the timetable calls the picture at path.
func (t *timetable) name(path string) string {
	relative, err := filepath.Rel(filepath.Dir(t.path), path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(relative)
}
