package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"gocv.io/x/gocv"

	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
)

// directoryOptions are the keys of a directory source.
type directoryOptions struct {
	Path      string  `yaml:"path"`       // a folder, or a pattern such as run1/*.png
	DT        float64 `yaml:"dt"`         // seconds from frame to frame
	FPS       float64 `yaml:"fps"`        // frames a second, in place of dt
	FramesCSV string  `yaml:"frames_csv"` // when each picture was taken; default: frames.csv beside the pictures, if it is there

	Follow    bool          `yaml:"follow"`     // wait for more pictures
	UntilIdle time.Duration `yaml:"until_idle"` // how long, at most; default: for ever
}

// picture is one file of the sequence.
type picture struct {
	path string
	moment
}

// directory gives pictures in the order of their names, or of frames.csv. A TIFF among them gives all its pages.
type directory struct {
	path, framesCSV string
	clock
	table    *timetable
	pictures []picture
	frames   int

	at     int // the picture that Read is at
	reader pictureReader
	stack  stack // open where the picture is a TIFF
}

func newDirectory(decode func(dst any) error) (pipeline.Source, error) {
	var o directoryOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Path == "" {
		return nil, errors.New("path is missing: give a folder of pictures or a pattern such as 'run1/*.png'")
	}
	c, err := newClock(o.DT, o.FPS)
	if err != nil {
		return nil, err
	}
	t, err := newTail(o.Follow, o.UntilIdle)
	if err != nil {
		return nil, err
	}
	if !o.Follow {
		return &directory{path: o.Path, framesCSV: o.FramesCSV, clock: c}, nil
	}
	if o.FramesCSV != "" {
		return nil, fmt.Errorf("frames_csv is %s, but a folder that is followed has its times only when it is complete: give dt or fps", o.FramesCSV)
	}
	return &growingFolder{path: o.Path, clock: c, tail: t}, nil
}

// Open lists the pictures and reads frames.csv. It opens no picture but the first, and that only where it is a TIFF.
func (d *directory) Open(context.Context) error {
	files, folder, err := listPictures(d.path)
	if err != nil {
		return err
	}
	path := d.framesCSV
	if path == "" {
		path = filepath.Join(folder, timetableName)
	}
	if d.table, err = readTimetable(path, d.framesCSV != ""); err != nil {
		return err
	}
	if d.pictures, err = schedule(files, d.table, folder == d.path); err != nil {
		return err
	}
	d.timed = d.timed || d.table != nil
	d.settle()
	d.frames = d.count()
	return nil
}

// schedule puts the files in the order of the timetable, which must know each of them. whole says that they are all there are,
// so that each row must have its file.
func schedule(files []string, table *timetable, whole bool) ([]picture, error) {
	pictures := make([]picture, len(files))
	for i, file := range files {
		pictures[i].path = file
		if table == nil {
			continue
		}
		m, known := table.rows[table.name(file)]
		if !known {
			return nil, fmt.Errorf("%s is not in %s: add its row, or move the picture away", file, table.path)
		}
		pictures[i].moment = m
	}
	if table == nil {
		return pictures, nil
	}
	slices.SortFunc(pictures, func(a, b picture) int { return cmp.Compare(a.order, b.order) })
	if whole && len(pictures) < len(table.names) {
		for i, name := range table.names {
			if i == len(pictures) || pictures[i].order != i {
				return nil, fmt.Errorf("%s lists %s, which is not there: copy the picture, or remove its row", table.path, name)
			}
		}
	}
	return pictures, nil
}

// count is the number of frames: one a file, unless the first is a TIFF of several pages, or unreadable; then it is not known.
func (d *directory) count() int {
	if !isTIFF(d.pictures[0].path) {
		return len(d.pictures)
	}
	var first stack
	defer first.close()
	if first.open(d.pictures[0].path) != nil || first.pages.Pages() != 1 {
		return 0
	}
	return len(d.pictures)
}

func isTIFF(path string) bool { return signature(path) == formatTIFF }

// Compression is the first picture's format; good after Open.
func (d *directory) Compression() string {
	if len(d.pictures) == 0 {
		return ""
	}
	return string(signature(d.pictures[0].path))
}

// Frames is the number of frames, 0 where it is not known; good after Open.
func (d *directory) Frames() int { return d.frames }

// Read returns the next picture. One that cannot be read is skipped as unreadable_file.
func (d *directory) Read(ctx context.Context) (*frame.Frame, error) {
	for d.at < len(d.pictures) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := d.pictures[d.at]
		mat, err := d.decode(p.path)
		if err == io.EOF { // of this TIFF
			d.advance()
			continue
		}
		if err != nil {
			return nil, d.skip("unreadable_file", err)
		}
		t, meta := d.now(), frame.Meta{File: p.path}
		if d.table != nil {
			meta.Trajectory = p.trajectory
			if d.interval == 0 {
				t = p.t
			}
		}
		return d.frame(mat, t, meta)
	}
	return nil, io.EOF
}

// decode returns the picture, or the next page of it.
func (d *directory) decode(path string) (gocv.Mat, error) {
	if d.stack.file == nil && !isTIFF(path) {
		d.at++
		return d.reader.readWarning(path, &d.clock)
	}
	if d.stack.file == nil {
		if err := d.openStack(path); err != nil {
			d.advance()
			return gocv.Mat{}, fmt.Errorf("%s: %w", path, err)
		}
	}
	err := d.stack.pages.Next(&d.stack.page)
	if err == io.EOF {
		return gocv.Mat{}, err
	}
	if err != nil {
		return gocv.Mat{}, fmt.Errorf("%s: %w", path, err)
	}
	return toMat(&d.stack.page)
}

func (d *directory) openStack(path string) error {
	if err := d.stack.open(path); err != nil {
		return err
	}
	if pages := d.stack.pages.Pages(); pages > 1 && d.table != nil && d.interval == 0 {
		return fmt.Errorf("%d pages, but %s gives one time a file: give --dt, or write one file a page", pages, d.table.path)
	}
	return nil
}

func (d *directory) advance() {
	d.stack.close()
	d.at++
}

// Close closes what a TIFF left open.
func (d *directory) Close() error { return d.stack.close() }
