package timing

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

	"driftscope/internal/kit/system"
)

// TimetableName is the name of the file with the times of pictures, in their folder.
const TimetableName = "frames.csv"

// maxTimetableBytes is enough for some ten million frames.
const maxTimetableBytes = 512 << 20

// Moment is a row of the timetable, for one picture.
type Moment struct {
	Order      int // row number
	T          float64
	Trajectory uint64
}

// Timetable is the content of a frames.csv. It has the columns file (relative to the folder), t in seconds and, if there are several trajectories, trajectory.
// It ignores other columns.
type Timetable struct {
	Path  string
	Names []string // in row order
	Rows  map[string]Moment
}

// ReadTimetable reads the file at path. It returns nil if the file is missing and not needed.
func ReadTimetable(path string, needed bool) (*Timetable, error) {
	file, err := system.OpenToRead(path)
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
		return nil, fmt.Errorf("%s has %d bytes, at most %d expected: split the recording", path, info.Size(), maxTimetableBytes)
	}
	t := &Timetable{Path: path, Rows: map[string]Moment{}}
	return t, t.read(csv.NewReader(io.LimitReader(file, maxTimetableBytes)))
}

func (t *Timetable) read(rows *csv.Reader) error {
	rows.ReuseRecord = true
	header, err := rows.Read()
	if err != nil && err != io.EOF {
		return fmt.Errorf("%s: %w", t.Path, err)
	}
	if len(header) > 0 {
		header[0] = strings.TrimPrefix(header[0], "\ufeff") // spreadsheets write a byte order mark
	}
	file, at, trajectory := slices.Index(header, "file"), slices.Index(header, "t"), slices.Index(header, "trajectory")
	if file < 0 || at < 0 {
		return fmt.Errorf("%s: the first line is %q, a header with file,t,trajectory expected: add it", t.Path, header)
	}
	last := map[uint64]float64{} // time of each trajectory's last row
	for {
		row, err := rows.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", t.Path, err)
		}
		line, _ := rows.FieldPos(0)
		m := Moment{Order: len(t.Names)}
		if m.T, err = strconv.ParseFloat(row[at], 64); err != nil || !(math.Abs(m.T) <= MaxTime) {
			return fmt.Errorf("%s line %d: t is %q, a number of seconds of at most %g expected: correct it", t.Path, line, row[at], float64(MaxTime))
		}
		if trajectory >= 0 {
			if m.Trajectory, err = strconv.ParseUint(row[trajectory], 10, 64); err != nil {
				return fmt.Errorf("%s line %d: trajectory is %q, a whole number from 0 expected: correct it", t.Path, line, row[trajectory])
			}
		}
		if before, some := last[m.Trajectory]; some && m.T <= before {
			return fmt.Errorf("%s line %d: t is %g after %g in trajectory %d: sort the rows by time", t.Path, line, m.T, before, m.Trajectory)
		}
		last[m.Trajectory] = m.T
		name := filepath.ToSlash(filepath.Clean(row[file]))
		if _, twice := t.Rows[name]; twice {
			return fmt.Errorf("%s line %d: %s is listed twice: remove one of the rows", t.Path, line, name)
		}
		t.Rows[name] = m
		t.Names = append(t.Names, name)
	}
}

// Name returns the name under which the timetable lists the picture at path.
func (t *Timetable) Name(path string) string {
	relative, err := filepath.Rel(filepath.Dir(t.Path), path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(relative)
}
