package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"driftscope/internal/kit/console"
	"driftscope/sinks/message"
)

// lines are the records of a JSON Lines file, one in memory at a time.
type lines struct {
	path   string
	name   string // name of the stream
	file   *os.File
	reader *bufio.Reader
	number int // number of the last line read
	told   bool
	record record
}

// openLines reads the stream's name from the first record.
func openLines(path string) (results, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	l := &lines{path: path, file: f, reader: bufio.NewReaderSize(f, message.MaxRecord+1)}
	if err := l.begin(); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// begin requires a record.
func (l *lines) begin() error {
	if _, err := l.next(); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: no record in it: give a file from run --out", l.path)
	} else if err != nil {
		return err
	}
	return l.rewind()
}

func (l *lines) rewind() error {
	_, err := l.file.Seek(0, io.SeekStart)
	l.reader.Reset(l.file)
	l.number = 0
	return err
}

func (l *lines) stream() string { return l.name }
func (l *lines) close() error   { return l.file.Close() }

// next returns the next record. It reports and skips an incomplete last line, which a killed run leaves.
func (l *lines) next() (*record, error) {
	line, err := l.reader.ReadSlice('\n')
	l.number++
	torn := errors.Is(err, io.EOF)
	switch {
	case torn && len(line) == 0:
		return nil, io.EOF
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, l.wrong(fmt.Errorf("a line of more than %d bytes", message.MaxRecord))
	case err != nil && !torn:
		return nil, fmt.Errorf("%s: %w", l.path, err)
	}
	err = l.take(bytes.TrimRight(line, "\r\n"))
	switch {
	case err != nil && torn:
		if !l.told {
			l.told = true
			console.Warn("%v: the last line is incomplete and was skipped", l.wrong(err))
		}
		return nil, io.EOF
	case err != nil:
		return nil, l.wrong(err)
	}
	return &l.record, nil
}

// wrong adds the file's name and the line number to an error.
func (l *lines) wrong(err error) error {
	return fmt.Errorf("%s:%d: %w: give a file from run --out", l.path, l.number, err)
}

// take reads one line.
func (l *lines) take(line []byte) error {
	var of message.Header
	if err := json.Unmarshal(line, &of); err != nil {
		return fmt.Errorf("not a driftscope message: %w", err)
	}
	r, err := message.Decode(of.Kind, line)
	if err != nil {
		return err
	}
	if l.name == "" {
		l.name = of.Stream
	}
	if of.Stream != l.name {
		return fmt.Errorf("a record of stream %.40q after records of %.40q: only one stream can be shown at a time", of.Stream, l.name)
	}
	l.record = record{kind: of.Kind, line: line}
	l.record.place(r)
	return nil
}

// place sets the position of a record in the film. A trigger comes before its frame's objects and latent, everything else after them.
func (r *record) place(of message.Record) {
	switch of := of.(type) {
	case *message.ObjectsRecord:
		r.seq, r.at, r.frame, r.size = of.Seq, of.Time, true, extent{of.Width, of.Height}
	case *message.LatentRecord:
		r.seq, r.at, r.frame = of.Seq, of.Time, true
	case *message.TriggerRecord:
		r.seq, r.at, r.frame = of.Seq, of.Time, true
	case *message.SDERecord:
		r.seq = of.Seq
	case *message.TrackRecord:
		r.seq = of.Seq
	case *message.PopulationRecord:
		r.seq = of.Seq
	case *message.EventRecord:
		r.seq = of.Seq
	case *message.ViewRecord:
		r.seq = of.Seq
	}
}
