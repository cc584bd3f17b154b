package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"driftscope/internal/kit/system"
)

// file is what an output needs of *os.File.
type file interface {
	io.Writer
	Truncate(size int64) error
	Sync() error
	Close() error
}

// output is one file, written through memory: what the disk does not take stays there and is offered again, from the byte on where it
// stopped. So a record that was taken is lost only if the disk is still full at the end.
type output struct {
	file    file
	path    string // where the file is while it is written
	name    string // its name once it is whole
	ours    bool   // it was made here
	records int    // taken
	pending []byte // not yet on the disk
	written int64
	torn    int  // written bytes after the last line's end
	ended   bool // its footer, if it has one, is in pending
}

// Write never fails.
func (o *output) Write(p []byte) (int, error) {
	o.pending = append(o.pending, p...)
	return len(p), nil
}

// size is that of the file once all of it is written.
func (o *output) size() int64 { return o.written + int64(len(o.pending)) }

// flush brings what is pending to the disk, as far as that takes it.
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

// complete brings the rest to the disk and gives the whole file its name; a file that was made here and holds no record is removed. It may
// be called again after an error. The file stays open.
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
	if err := o.file.Sync(); err != nil { // the name is the promise that the file is whole
		return err
	}
	return system.Rename(o.path, o.name)
}

// abandon says what it costs that the rest cannot be written. Lines are made to end where the last whole one does.
func (o *output) abandon() error {
	if o.path != o.name {
		return fmt.Errorf("%s: its %d records cannot be read without what could not be written", o.path, o.records)
	}
	lost := fmt.Errorf("%s: the last %d bytes are lost", o.path, len(o.pending)+o.torn)
	if o.torn > 0 && o.ours {
		return errors.Join(lost, o.file.Truncate(o.written-int64(o.torn)))
	}
	return lost
}
