package recorder

import (
	"context"
	"errors"
	"fmt"
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

// A recording is a folder of TIFF files, which any viewer opens, or an OME-Zarr store, plus an index that maps every page to
// its frame.
const (
	indexName   = "recording.csv"
	indexHeader = "file,page,seq,time_ns,trajectory,dropped\n"
)

// pages writes the pictures of a recording in one format. A page is whole on disk when append returns.
type pages interface {
	// need returns the largest number of bytes that append writes to disk.
	need(page *tiff.Image) int64
	// append writes a page with its acquisition time. It returns the page's file and its number in the file, from 1.
	append(page *tiff.Image, at time.Time) (file string, number int, err error)
	// size returns the bytes of the whole pages.
	size() int64
	// end closes the open file after the last whole page. append may be called again afterwards.
	end() error
}

// errFull stops a recording at its size bound.
var errFull = errors.New("the recording has reached record.max_gb: raise it, or record fewer frames")

// Recorder is a source that returns another source's frames and first writes a copy of each to disk. The source kind recording replays them. When the recording
// reaches its size bound or the disk fails, the recording ends, and the next frame has the event recording_stopped; frames are still returned. After a disk
// failure each further frame has the event not_recorded.
type Recorder struct {
	source pipeline.Source
	folder string
	most   int64

	index *os.File // nil while the source is closed
	pages pages
	page  tiff.Image
	row   []byte

	frames     int
	missed     int    // number of frames since the recording ended
	indexed    int64  // bytes of the index
	base, next uint64 // recording's number of the first frame since the source was opened, and of the next frame
	skipped    uint64 // number of frames that the source could not read since the last frame
	stopped    error  // reason for the end of the recording
	reported   bool   // a frame had the event recording_stopped
}

// New returns a Recorder that writes at most most bytes into folder, which must be new or empty: as OME-Zarr if the folder's name ends in .zarr, otherwise as
// TIFF. It takes ownership of source. It opens nothing; Open does.
func New(source pipeline.Source, folder string, most int64) (*Recorder, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("recording: %w: give a folder that can be written", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("recording: %w: give a folder that can be read and written", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("recording: %s already contains %s: give a new folder, or move its content away", folder, entries[0].Name())
	}
	r := &Recorder{source: source, folder: folder, most: most, pages: &tiffPages{folder: folder}}
	if format.Extension(folder) == ".zarr" {
		r.pages = &zarrPages{writer: zarr.NewWriter(folder)}
	}
	return r, nil
}

// Info returns the source's properties.
func (r *Recorder) Info() pipeline.Info { return r.source.Info() }

// Open opens the source and the recording. The first Open starts the recording; later ones, after the source was lost, continue it.
func (r *Recorder) Open(ctx context.Context) error {
	if err := r.source.Open(ctx); err != nil {
		return err
	}
	r.base = r.next
	if r.stopped != nil {
		return nil
	}
	flags, begun := os.O_CREATE|os.O_EXCL, r.indexed > 0
	if begun {
		flags = 0
	}
	index, err := os.OpenFile(filepath.Join(r.folder, indexName), flags|os.O_WRONLY, 0o644)
	switch {
	case err != nil && begun: // the source itself works again
		r.stopped = fmt.Errorf("when the source was opened again: %w: do not remove the folder during the recording, or use another disk", err)
		return nil
	case err != nil:
		return fmt.Errorf("recording: %w: give another folder", err)
	}
	r.index = index
	if !begun {
		return r.list([]byte(indexHeader))
	}
	return nil
}

// Read records the source's next frame and then returns it.
func (r *Recorder) Read(ctx context.Context) (*frame.Frame, error) {
	f, err := r.source.Read(ctx)
	if err != nil {
		if skip := (*pipeline.ErrSkip)(nil); errors.As(err, &skip) {
			r.skipped++
			r.next++ // the lost frame had a number
		}
		return nil, err
	}
	r.next = r.base + f.Seq + 1
	if r.stopped == nil {
		if err := r.record(f); err != nil {
			r.stopped = errors.Join(fmt.Errorf("at frame %d: %w", f.Seq, err), r.end())
		}
	}
	if r.stopped == nil {
		return f, nil
	}
	if r.missed++; !r.reported {
		r.reported = true
		f.Notice(true, "recording_stopped", r.Account())
	}
	if !errors.Is(r.stopped, errFull) { // the disk failed, which is unexpected
		f.Notice(true, "not_recorded", "the frame is tracked but not recorded: see the event recording_stopped")
	}
	return f, nil
}

// record writes f. If the disk is full it may write a part, which end cuts off.
func (r *Recorder) record(f *frame.Frame) error {
	if err := picture.ToPage(&r.page, f.Mat()); err != nil {
		return err
	}
	const room = 256 // for the row and the header of a new file
	if r.Size()+r.pages.need(&r.page)+room > r.most {
		return errFull
	}
	if err := r.write(f); err != nil {
		return fmt.Errorf("%w: free space, or give another disk", err)
	}
	r.frames++
	r.skipped = 0
	return nil
}

// write appends the page of f and then its row in the index.
func (r *Recorder) write(f *frame.Frame) error {
	file, number, err := r.pages.append(&r.page, f.Time)
	if err != nil {
		return err
	}
	return r.list(r.describe(f, file, number))
}

// describe returns the row of f in the index. The column dropped includes frames that the source could not read, because tracking counts them, too.
func (r *Recorder) describe(f *frame.Frame, file string, number int) []byte {
	b := append(r.row[:0], file...)
	b = strconv.AppendInt(append(b, ','), int64(number), 10)
	b = strconv.AppendUint(append(b, ','), r.base+f.Seq, 10)
	b = strconv.AppendInt(append(b, ','), f.Time.UnixNano(), 10)
	b = strconv.AppendUint(append(b, ','), f.Meta.Trajectory, 10)
	b = strconv.AppendUint(append(b, ','), f.Meta.Dropped+r.skipped, 10)
	r.row = append(b, '\n')
	return r.row
}

// list appends text to the index.
func (r *Recorder) list(text []byte) error {
	_, err := r.index.WriteAt(text, r.indexed)
	if err == nil {
		r.indexed += int64(len(text))
	}
	return err
}

// end closes the recording's files.
func (r *Recorder) end() error {
	err := r.pages.end()
	if r.index != nil {
		err = errors.Join(err, r.index.Truncate(r.indexed), r.index.Close())
		r.index = nil
	}
	return err
}

// Close closes the source and the open files of the recording.
func (r *Recorder) Close() error {
	if r.stopped != nil { // nothing is open
		return r.source.Close()
	}
	err := r.end()
	if err != nil {
		err = fmt.Errorf("recording: %w", err)
	}
	return errors.Join(r.source.Close(), err)
}

// Size returns the bytes of the recording on disk.
func (r *Recorder) Size() int64 { return r.pages.size() + r.indexed }

// Account returns one line with the number of recorded frames and the reason if recording stopped.
func (r *Recorder) Account() string {
	text := fmt.Sprintf("recorded %d frames (%.6g MB) in %s", r.frames, float64(r.Size())/1e6, r.folder)
	if r.stopped != nil {
		text += fmt.Sprintf(", then stopped %s; %d frames not recorded", strings.ReplaceAll(r.stopped.Error(), "\n", "; "), r.missed)
	}
	return text
}

// Failed returns the account as an error if a failure of the disk ended the recording. Reaching the size bound is not a failure.
func (r *Recorder) Failed() error {
	if r.stopped == nil || errors.Is(r.stopped, errFull) {
		return nil
	}
	return errors.New(r.Account())
}
