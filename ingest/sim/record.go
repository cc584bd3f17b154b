package sim

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// Film returns one or more pictures in order. Next draws the next picture into dst, whose memory it may reuse, and returns its truth. Mu is nil if the film has
// no drift. io.EOF follows the last picture.
type Film interface {
	Next(dst *Picture) (Truth, error)
}

// Tracked is a film of many objects, whose truth consists of tracks. Columns names the known values of an object in a frame,
// x and y first: positions in px, whole numbers at pixel centres. Tracks calls write with these values for every object and
// frame; they are valid during the call.
type Tracked interface {
	Film
	Columns() []string
	Tracks(write func(frame, particle int, values []float64))
}

// Record writes all of a finite scene with the function Record.
func (s *Scene) Record(ctx context.Context, dir string) error {
	if s.frames == 0 {
		return fmt.Errorf("scene %s is endless, and only a finite scene can be recorded: give frames (1 to %d)", s.Name(), MaxFrames)
	}
	return Record(ctx, s, dir)
}

// Record writes a film into the folder dir, which must be empty or missing:
//
//	frame_0000000.png ...  the pictures: PNG of 16 bits for Counts, of 8 bits for Unit values, float32 TIFF for Real ones
//	frames.csv             file,t,trajectory
//	truth.csv              t,z1..zd,mu1..mud, in the law's own units and seconds; every number reads back to the same bits
//	tracks.csv             instead of truth.csv, for a film of many objects: frame,particle, then its columns: x,y,...
//
// It writes into dir.partial and renames this folder to dir at the end, so dir is complete or missing. If ctx ends or a write fails, it removes dir.partial.
func Record(ctx context.Context, film Film, dir string) (err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	if err := refuseOccupied(dir); err != nil {
		return err
	}
	partial := dir + ".partial"
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	if err := os.Mkdir(partial, 0o777); errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s exists, because another run is writing it or was killed: wait for that run, or remove the folder if there is none", partial)
	} else if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(partial))
		}
	}()
	if err := recordInto(ctx, film, partial); err != nil {
		return err
	}
	if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) { // Remove fails unless the folder is empty
		return err
	}
	return os.Rename(partial, dir)
}

func refuseOccupied(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: give an empty or a new folder", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("%s is not empty (it holds %s): give an empty or a new folder", dir, entries[0].Name())
	}
	return nil
}

func recordInto(ctx context.Context, film Film, dir string) error {
	frames, err := createTable(filepath.Join(dir, "frames.csv"))
	if err != nil {
		return err
	}
	defer frames.file.Close()
	tracked, many := film.(Tracked)
	name := "truth.csv"
	if many {
		name = "tracks.csv"
	}
	truths, err := createTable(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer truths.file.Close()

	frames.write("file", "t", "trajectory")
	var picture Picture
	encoder := newPictureEncoder()
	for frame := 0; ; frame++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		truth, err := film.Next(&picture)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if frame == 0 && !many {
			truths.write(truthHeader(truth)...)
		}
		name := fmt.Sprintf("frame_%07d%s", frame, extension(picture.Depth))
		if err := encoder.write(filepath.Join(dir, name), &picture); err != nil {
			return err
		}
		t := decimal(truth.T)
		frames.write(name, t, strconv.FormatUint(truth.Trajectory, 10))
		if !many {
			truths.write(truthRow(t, truth)...)
		}
	}
	if many {
		writeTracks(tracked, truths)
	}
	return errors.Join(frames.close(), truths.close())
}

func writeTracks(film Tracked, dst *table) {
	row := append([]string{"frame", "particle"}, film.Columns()...)
	dst.write(row...)
	film.Tracks(func(frame, particle int, values []float64) {
		row = append(row[:0], strconv.Itoa(frame), strconv.Itoa(particle))
		for _, v := range values {
			row = append(row, decimal(v))
		}
		dst.write(row...)
	})
}

func truthHeader(truth Truth) []string {
	header := []string{"t"}
	for i := range truth.Z {
		header = append(header, "z"+strconv.Itoa(i+1))
	}
	for i := range truth.Mu {
		header = append(header, "mu"+strconv.Itoa(i+1))
	}
	return header
}

func truthRow(t string, truth Truth) []string {
	row := []string{t}
	for _, v := range truth.Z {
		row = append(row, decimal(v))
	}
	for _, v := range truth.Mu {
		row = append(row, decimal(v))
	}
	return row
}

// decimal returns the shortest decimal that reads back to the same float64.
func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// table writes a CSV file; close reports the first error of all writes.
type table struct {
	file *os.File
	rows *csv.Writer
}

func createTable(path string) (*table, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return &table{file: file, rows: csv.NewWriter(file)}, nil
}

func (t *table) write(row ...string) { _ = t.rows.Write(row) } // close reports the error

func (t *table) close() error {
	t.rows.Flush()
	return errors.Join(t.rows.Error(), t.file.Close())
}
