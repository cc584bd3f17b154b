package recorder

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"driftscope/ingest/format"
	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/zarr"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// maxRow is the longest line of an index: a name and five numbers.
const maxRow = 4096

// replayOptions are the keys of a recording.
type replayOptions struct {
	Path string `yaml:"path" reaches:"read"` // the folder that a Recorder wrote
}

// replay returns a recording's frames as recorded: numbers, times to the nanosecond, trajectories and losses.
type replay struct {
	folder string
	index  *os.File
	rows   *bufio.Reader
	line   int

	last  row // last row read; its file is the open stack or image
	begun bool
	stack picture.Stack
	image *zarr.Image // for a recording in OME-Zarr
	page  tiff.Image
}

// row is one line of the index.
type row struct {
	file       string
	page       int // from 1
	seq        uint64
	at         time.Time
	trajectory uint64
	dropped    uint64
}

// NewReplay makes a source that reads a folder that a Recorder wrote.
func NewReplay(decode func(dst any) error) (pipeline.Source, error) {
	var o replayOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Path == "" {
		return nil, errors.New("path is missing: give a folder that run --record wrote")
	}
	return &replay{folder: o.Path}, nil
}

// IsRecording reports whether a folder contains the index of a recording.
func IsRecording(folder string) bool {
	info, err := os.Stat(filepath.Join(folder, indexName))
	return err == nil && info.Mode().IsRegular()
}

// Info reports that times are acquisition times.
func (r *replay) Info() pipeline.Info { return pipeline.Info{Timed: true} }

// Open reads the first line of the index.
func (r *replay) Open(context.Context) (err error) {
	*r = replay{folder: r.folder}
	if r.index, _, err = format.OpenFilled(filepath.Join(r.folder, indexName)); err != nil {
		return fmt.Errorf("%w: give a folder that run --record wrote", err)
	}
	r.rows = bufio.NewReaderSize(r.index, maxRow)
	header, err := r.next()
	if err != nil && err != io.EOF || header+"\n" != indexHeader {
		return fmt.Errorf("%s: the first line is %.80q, %q expected: give a folder that run --record wrote", r.index.Name(), header, strings.TrimSpace(indexHeader))
	}
	return nil
}

// next returns the next line. At a torn line it returns the part of the line together with io.EOF.
func (r *replay) next() (string, error) {
	r.line++
	text, err := r.rows.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", r.wrong("the line has more than %d bytes, expected %s", maxRow, strings.TrimSpace(indexHeader))
	}
	return strings.TrimSuffix(string(text), "\n"), err
}

func (r *replay) wrong(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s: copy the recording again", r.index.Name(), r.line, fmt.Sprintf(format, args...))
}

// Read returns the next frame. It skips a damaged page as unreadable_page, and the incomplete last row of a recording as
// torn_recording.
func (r *replay) Read(ctx context.Context) (*frame.Frame, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	text, err := r.next()
	switch {
	case err == io.EOF && text != "":
		return nil, &pipeline.ErrSkip{Cause: "torn_recording", Err: r.wrong("the recording was cut off here")}
	case err != nil:
		return nil, err
	}
	now, err := r.parse(text)
	if err == nil {
		err = r.follows(now)
	}
	if err != nil {
		return nil, err
	}
	if !r.begun || now.file != r.last.file {
		if err := r.turn(now.file); err != nil {
			return nil, fmt.Errorf("%s: %w: copy the recording again", now.file, err)
		}
	}
	r.last, r.begun = now, true
	return r.frame(now)
}

// turn closes the current file and opens the given one.
func (r *replay) turn(file string) (err error) {
	r.stack.Close()
	if file != zarr.LevelName {
		return r.stack.Open(filepath.Join(r.folder, file))
	}
	r.image, err = zarr.Open(os.DirFS(r.folder), 0)
	return err
}

// parse reads one row.
func (r *replay) parse(text string) (now row, err error) {
	fields := strings.Split(text, ",")
	if len(fields) != strings.Count(indexHeader, ",")+1 {
		return now, r.wrong("found %.80q, expected %s", text, strings.TrimSpace(indexHeader))
	}
	if now.file = fields[0]; filepath.Base(now.file) != now.file || !filepath.IsLocal(now.file) || filepath.Ext(now.file) != ".tif" && now.file != zarr.LevelName {
		return now, r.wrong("found file %.80q, expected the name of a TIFF or of the Zarr array in this folder", now.file)
	}
	var ns int64
	now.page, err = strconv.Atoi(fields[1])
	for i, dst := range map[int]*uint64{2: &now.seq, 4: &now.trajectory, 5: &now.dropped} {
		if err == nil {
			*dst, err = strconv.ParseUint(fields[i], 10, 64)
		}
	}
	if err == nil {
		ns, err = strconv.ParseInt(fields[3], 10, 64)
	}
	if err != nil {
		return now, r.wrong("%v", err)
	}
	now.at = time.Unix(0, ns).UTC()
	return now, nil
}

// follows checks that pages and numbers increase, so that no frame gets another frame's picture.
func (r *replay) follows(now row) error {
	page := 1
	if r.begun && now.file == r.last.file {
		page = r.last.page + 1
	}
	if now.page != page {
		return r.wrong("found page %d of %s, page %d expected", now.page, now.file, page)
	}
	if r.begun && now.seq <= r.last.seq {
		return r.wrong("seq is %d after %d", now.seq, r.last.seq)
	}
	return nil
}

// frame reads the page of a row.
func (r *replay) frame(now row) (*frame.Frame, error) {
	path := filepath.Join(r.folder, now.file)
	page, err := &r.page, error(nil)
	if now.file == zarr.LevelName {
		err = r.image.ReadColours(page, now.page-1)
	} else {
		page = &r.stack.Page
		err = r.stack.Pages.Next(page)
	}
	if err == io.EOF {
		return nil, fmt.Errorf("%s has %d pages, but the index lists page %d: copy the recording again", path, r.stack.Pages.Pages(), now.page)
	}
	if err != nil {
		return nil, &pipeline.ErrSkip{Cause: "unreadable_page", Err: fmt.Errorf("%s: %w", path, err)}
	}
	mat, err := picture.ToMat(page)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	meta := frame.Meta{File: path, Trajectory: now.trajectory, Dropped: now.dropped, Arrived: time.Now()}
	return frame.New(now.seq, now.at, meta, mat), nil
}

// Close closes open files.
func (r *replay) Close() error {
	err := r.stack.Close()
	if r.image != nil {
		r.image.Close()
	}
	if r.index != nil {
		err = errors.Join(err, r.index.Close())
		r.index = nil
	}
	return err
}
