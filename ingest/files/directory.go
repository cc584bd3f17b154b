package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/timing"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// directoryOptions are the keys of a directory source.
type directoryOptions struct {
	Growing   `yaml:",inline"`
	FramesCSV string `yaml:"frames_csv" reaches:"read"` // times of the pictures; default: frames.csv beside the pictures, if it exists
}

// listedPicture is one picture of the sequence.
type listedPicture struct {
	path  string
	taken timing.Moment // zero without frames.csv
}

// directory returns pictures in the order of their names, or of frames.csv. A TIFF returns all its pages.
type directory struct {
	path, framesCSV string
	clock           timing.Clock
	table           *timing.Timetable
	pictures        []listedPicture
	frames          int

	at     int // index of the current picture
	reader picture.Reader
	stack  picture.Stack // open if the picture is a TIFF
}

// NewDirectory makes a source that reads a folder of pictures, complete or growing.
func NewDirectory(decode func(dst any) error) (pipeline.Source, error) {
	var o directoryOptions
	c, t, err := o.times(decode(&o), "a folder of pictures or a pattern such as 'run1/*.png'")
	if err != nil {
		return nil, err
	}
	if !o.Follow {
		return &directory{path: o.Path, framesCSV: o.FramesCSV, clock: c}, nil
	}
	if o.FramesCSV != "" {
		return nil, fmt.Errorf("frames_csv is %s, but the times of a followed folder are only known at its end: give dt or fps", o.FramesCSV)
	}
	return &growingFolder{path: o.Path, clock: c, tail: t}, nil
}

// Info returns the first picture's format.
func (d *directory) Info() pipeline.Info {
	info := pipeline.Info{Timed: d.clock.Timed(), Frames: d.frames}
	if len(d.pictures) > 0 {
		info.Compression = string(format.Of(d.pictures[0].path))
	}
	return info
}

// Open lists the pictures and reads frames.csv. It opens only the first picture, and only if it is a TIFF.
func (d *directory) Open(context.Context) error {
	files, folder, err := format.ListPictures(d.path)
	if err != nil {
		return err
	}
	path := d.framesCSV
	if path == "" {
		path = filepath.Join(folder, timing.TimetableName)
	}
	if d.table, err = timing.ReadTimetable(path, d.framesCSV != ""); err != nil {
		return err
	}
	if d.pictures, err = schedule(files, d.table, folder == d.path); err != nil {
		return err
	}
	if d.table != nil {
		d.clock.Own()
	}
	d.clock.Settle()
	d.frames = d.count()
	return nil
}

// schedule orders the files by the timetable, which must list every file. If whole is true, every row of the timetable must have its file, too.
func schedule(files []string, table *timing.Timetable, whole bool) ([]listedPicture, error) {
	pictures := make([]listedPicture, len(files))
	for i, file := range files {
		pictures[i].path = file
		if table == nil {
			continue
		}
		m, known := table.Rows[table.Name(file)]
		if !known {
			return nil, fmt.Errorf("%s has no row in %s: add the row, or move the picture away", file, table.Path)
		}
		pictures[i].taken = m
	}
	if table == nil {
		return pictures, nil
	}
	slices.SortFunc(pictures, func(a, b listedPicture) int { return cmp.Compare(a.taken.Order, b.taken.Order) })
	if whole && len(pictures) < len(table.Names) {
		for i, name := range table.Names {
			if i == len(pictures) || pictures[i].taken.Order != i {
				return nil, fmt.Errorf("%s lists %s, which does not exist: copy the picture, or remove its row", table.Path, name)
			}
		}
	}
	return pictures, nil
}

// count returns the number of frames: one per file. It is unknown if the first file is unreadable or a TIFF of several pages.
func (d *directory) count() int {
	if !isTIFF(d.pictures[0].path) {
		return len(d.pictures)
	}
	var first picture.Stack
	defer first.Close()
	if first.Open(d.pictures[0].path) != nil || first.Pages.Pages() != 1 {
		return 0
	}
	return len(d.pictures)
}

func isTIFF(path string) bool { return format.Of(path) == format.TIFF }

// Read returns the next picture, or skips it as unreadable_file.
func (d *directory) Read(ctx context.Context) (*frame.Frame, error) {
	for d.at < len(d.pictures) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := d.pictures[d.at]
		mat, err := d.decode(p.path)
		if err == io.EOF { // end of this TIFF
			d.advance()
			continue
		}
		if errors.Is(err, picture.ErrNoDecoder) { // every other picture fails too
			return nil, err
		}
		if err != nil {
			return nil, d.clock.Skip("unreadable_file", err)
		}
		t, meta := d.clock.Now(), frame.Meta{File: p.path}
		if d.table != nil {
			meta.Trajectory = p.taken.Trajectory
			if !d.clock.Even() {
				t = p.taken.T
			}
		}
		return d.clock.Frame(mat, t, meta)
	}
	return nil, io.EOF
}

// decode returns the picture, or the next page of a TIFF.
func (d *directory) decode(path string) (frame.Mat, error) {
	if d.stack.Closed() && !isTIFF(path) {
		d.at++
		return readPicture(&d.reader, path, &d.clock)
	}
	if d.stack.Closed() {
		if err := d.openStack(path); err != nil {
			d.advance()
			return frame.Mat{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	err := d.stack.Pages.Next(&d.stack.Page)
	if err == io.EOF {
		return frame.Mat{}, err
	}
	if err != nil {
		return frame.Mat{}, fmt.Errorf("%s: %w", path, err)
	}
	return picture.ToMat(&d.stack.Page)
}

func (d *directory) openStack(path string) error {
	if err := d.stack.Open(path); err != nil {
		return err
	}
	if pages := d.stack.Pages.Pages(); pages > 1 && d.table != nil && !d.clock.Even() {
		return fmt.Errorf("the file has %d pages, but %s gives one time per file: give --dt, or write one file per page", pages, d.table.Path)
	}
	return nil
}

func (d *directory) advance() {
	d.stack.Close()
	d.at++
}

// Close closes an open TIFF.
func (d *directory) Close() error { return d.stack.Close() }

// readPicture reads a picture. If the decoding library complained, readPicture adds a warning to the next frame of the clock.
func readPicture(reader *picture.Reader, path string, c *timing.Clock) (frame.Mat, error) {
	mat, err := reader.Read(path)
	if err == nil && reader.Said != "" {
		c.Warn("damaged_picture", fmt.Sprintf("%s was decoded, but parts of it may be wrong (%s): record or copy it again", path, reader.Said))
	}
	return mat, err
}
