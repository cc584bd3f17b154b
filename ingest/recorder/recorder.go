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

// A recording is a folder of TIFF files, which any viewer opens, or an OME-Zarr store, and an index that says of every page which frame it is.
const (
	indexName   = "recording.csv"
	indexHeader = "file,page,seq,time_ns,trajectory,dropped\n"
)

// pages are the pictures of a recording in one format. A page is whole on disk when append returns.
type pages interface {
	// need is how many bytes of disk append takes, at most.
	need(page *tiff.Image) int64
	// append writes a page that was taken at a time, and says in which file it is, and which page of that it is, from 1.
	append(page *tiff.Image, at time.Time) (file string, number int, err error)
	// size is how many bytes the whole pages have.
	size() int64
	// end closes what is open, at the last whole page; append may go on behind it.
	end() error
}

// errFull is why a recording that has reached its bound goes no further.
var errFull = errors.New("the recording is as large as record.max_gb allows: give more, or record fewer frames")

// Recorder is a source that hands on what another one gives and keeps a copy of every frame on disk, as it was read: the kind recording
// gives the same frames again. A frame is whole on disk before it is handed on. When the bound is reached or the disk fails, the
// recording ends, the next frame says so once (event recording_stopped), and the frames go on. If the disk failed, each of them counts as not_recorded.
type Recorder struct {
	source pipeline.Source
	folder string
	most   int64

	index *os.File // nil while the source is closed
	pages pages
	page  tiff.Image
	row   []byte

	frames     int
	missed     int    // frames since the recording ended
	indexed    int64  // bytes of the index
	base, next uint64 // what the source's numbers are counted from, as it may be opened again; the next one so counted
	skipped    uint64 // frames that the source could not read since the last
	stopped    error  // why the recording ended
	reported   bool   // a frame carried the event recording_stopped
}

// New records source into folder, which must be new or empty, up to so many bytes: as OME-Zarr where its name ends in .zarr, else as TIFF. The source
// becomes the recorder's. Nothing is opened before Open.
func New(source pipeline.Source, folder string, most int64) (*Recorder, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("recording: %w: give a folder that can be written", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("recording: %w: give a folder that can be read and written", err)
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("recording: %s holds %s already: give a new folder, or move what is there away", folder, entries[0].Name())
	}
	r := &Recorder{source: source, folder: folder, most: most, pages: &tiffPages{folder: folder}}
	if format.Extension(folder) == ".zarr" {
		r.pages = &zarrPages{writer: zarr.NewWriter(folder)}
	}
	return r, nil
}

// Info is the source's.
func (r *Recorder) Info() pipeline.Info { return r.source.Info() }

// Open opens the source, and the recording: begun where it is the first time, gone on with where the source was lost.
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
	case err != nil && begun: // the source is back all the same
		r.stopped = fmt.Errorf("when the source came back: %w: keep the folder while it is recorded into, or give another disk", err)
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

// Read hands the source's next frame on once it is recorded.
func (r *Recorder) Read(ctx context.Context) (*frame.Frame, error) {
	f, err := r.source.Read(ctx)
	if err != nil {
		if skip := (*pipeline.ErrSkip)(nil); errors.As(err, &skip) {
			r.skipped++
			r.next++ // it had a number
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
	if !errors.Is(r.stopped, errFull) { // nobody asked for that
		f.Notice(true, "not_recorded", "the frame is tracked but not recorded: see the event recording_stopped")
	}
	return f, nil
}

// record writes f, or as much of it as there is room for, which end cuts off.
func (r *Recorder) record(f *frame.Frame) error {
	if err := picture.ToPage(&r.page, f.Mat()); err != nil {
		return err
	}
	const room = 256 // for the row, and for the header of a new file
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

// write adds the page, and then its row.
func (r *Recorder) write(f *frame.Frame) error {
	file, number, err := r.pages.append(&r.page, f.Time)
	if err != nil {
		return err
	}
	return r.list(r.describe(f, file, number))
}

// describe is f's row of the index. Its dropped counts what the source could not read, too, as what tracking sees does.
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

// list adds text to the index.
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

// Close closes the source and what is open of the recording.
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

// Size is how many bytes the recording has on disk.
func (r *Recorder) Size() int64 { return r.pages.size() + r.indexed }

// Account says in a line what was recorded, and why no more.
func (r *Recorder) Account() string {
	text := fmt.Sprintf("recorded %d frames (%.6g MB) in %s", r.frames, float64(r.Size())/1e6, r.folder)
	if r.stopped != nil {
		text += fmt.Sprintf(", then stopped %s; %d frames not recorded", strings.ReplaceAll(r.stopped.Error(), "\n", "; "), r.missed)
	}
	return text
}

// Failed returns the account as an error if the disk ended the recording. One that has reached its bound has not failed.
func (r *Recorder) Failed() error {
	if r.stopped == nil || errors.Is(r.stopped, errFull) {
		return nil
	}
	return errors.New(r.Account())
}
