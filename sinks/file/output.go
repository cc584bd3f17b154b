package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"driftscope/internal/kit/system"
)

// file is the part of *os.File that an output needs.
type file interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

// output buffers one file in memory. Bytes that the disk refuses stay in memory, and a later write continues exactly there. So an accepted record is lost only
// if the disk is still full at the end.
type output struct {
	file    file
	path    string // path while the file is incomplete
	name    string // name once the file is complete
	ours    bool   // this run created the file
	records int    // accepted records
	pending []byte // not yet on the disk
	written int64
	torn    int  // written bytes after the end of the last complete line
	ended   bool // pending includes the footer, if the format has one
}

// Write never fails.
func (o *output) Write(p []byte) (int, error) {
	o.pending = append(o.pending, p...)
	return len(p), nil
}

// size returns the size of the file after everything is written.
func (o *output) size() int64 { return o.written + int64(len(o.pending)) }

// flush writes pending bytes to the disk, as far as the disk accepts them.
func (o *output) flush() error {
	if len(o.pending) == 0 {
		return nil
	}
	n, err := o.file.Write(o.pending)
	if last := bytes.LastIndexByte(o.pending[:n], '\n'); last >= 0 {
		o.torn = n - last - 1
	} else {
		o.torn += n
	}
	o.written += int64(n)
	o.pending = append(o.pending[:0], o.pending[n:]...)
	return err
}

// complete writes the rest to the disk and gives the file its final name. It removes a file of this run without records. It may be called again after an error.
// It does not close the file.
func (o *output) complete() error {
	if err := o.flush(); err != nil {
		return err
	}
	if o.ours && o.records == 0 {
		return os.Remove(o.path)
	}
	if o.path == o.name {
		return nil
	}
	if err := o.file.Sync(); err != nil { // the final name promises a complete file
		return err
	}
	return system.Rename(o.path, o.name)
}

// abandon returns an error with the amount of lost data. It truncates a text file after its last complete line.
func (o *output) abandon() error {
	if o.path != o.name {
		return fmt.Errorf("%s: its %d records cannot be read without the missing part", o.path, o.records)
	}
	lost := fmt.Errorf("%s: the last %d bytes are lost", o.path, len(o.pending)+o.torn)
	if o.torn > 0 && o.ours {
		return errors.Join(lost, o.file.Truncate(o.written-int64(o.torn)))
	}
	return lost
}
