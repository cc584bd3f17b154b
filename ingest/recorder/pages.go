package recorder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"driftscope/ingest/tiff"
	"driftscope/ingest/zarr"
)

// Bounds on a TIFF file. A single frame may exceed them.
const (
	segmentBytes = 1 << 30
	segmentPages = 1 << 14
)

// tiffPages writes pages to consecutive TIFF files.
type tiffPages struct {
	folder string
	file   *os.File // nil before the first page of a file
	writer *tiff.Writer
	inFile int // pages in the current file
	files  int
	whole  int64 // bytes of completed files
}

func (p *tiffPages) need(page *tiff.Image) int64 { return tiff.Stored(page) }

func (p *tiffPages) append(page *tiff.Image, _ time.Time) (string, int, error) {
	if p.file != nil && (p.writer.Size()+tiff.Stored(page) > segmentBytes || p.inFile == segmentPages) {
		if err := p.end(); err != nil {
			return "", 0, err
		}
	}
	if p.file == nil {
		if err := p.begin(); err != nil {
			return "", 0, err
		}
	}
	if err := p.writer.Append(page); err != nil {
		return "", 0, err
	}
	p.inFile++
	return filepath.Base(p.file.Name()), p.inFile, nil
}

func (p *tiffPages) begin() (err error) {
	p.files++
	p.inFile = 0
	p.file, err = os.OpenFile(filepath.Join(p.folder, fmt.Sprintf("frames-%04d.tif", p.files)), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if err != nil {
		p.file = nil
		return err
	}
	p.writer, err = tiff.NewWriter(p.file)
	return err
}

func (p *tiffPages) size() int64 {
	if p.writer == nil {
		return p.whole
	}
	return p.whole + p.writer.Size()
}

// end closes the current TIFF after its last whole page.
func (p *tiffPages) end() error {
	if p.file == nil {
		return nil
	}
	p.whole += p.writer.Size()
	err := errors.Join(p.file.Truncate(p.writer.Size()), p.file.Close())
	p.file, p.writer = nil, nil
	return err
}

// zarrPages writes frames to an OME-Zarr store.
type zarrPages struct {
	writer      *zarr.Writer
	first, last time.Time
}

func (p *zarrPages) need(page *tiff.Image) int64 { return zarr.Stored(page) }

func (p *zarrPages) append(page *tiff.Image, at time.Time) (string, int, error) {
	if err := p.writer.Append(page); err != nil {
		return "", 0, err
	}
	if p.last = at; p.writer.Frames() == 1 {
		p.first = at
	}
	var err error
	if p.writer.Frames() == 2 { // write the time step now, so that the store has one even if the writer is killed
		err = p.end()
	}
	return zarr.LevelName, p.writer.Frames(), err
}

func (p *zarrPages) size() int64 { return p.writer.Size() }

// end writes the mean time step to the store. The index has the exact times.
func (p *zarrPages) end() error {
	if p.writer.Frames() < 2 {
		return nil
	}
	return p.writer.Describe(p.last.Sub(p.first).Seconds() / float64(p.writer.Frames()-1))
}
