package sinks

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"driftscope/internal/latent"
)

// flushEvery is how much of a recording a crash of the machine may cost.
const flushEvery = time.Second

// jsonlOptions are the keys of a JSON Lines file.
type jsonlOptions struct {
	Path   string `yaml:"path"`
	Append bool   `yaml:"append"` // go on in a file that is there; otherwise that is an error
}

// jsonl writes every message as one line of JSON, as on NATS.
type jsonl struct {
	encoder
	file    *os.File
	buffer  *bufio.Writer
	flushed time.Time
	ours    bool // the file was made here
	lines   int
	write   func(latent.Kind, []byte) error // kept, so that a frame needs no new closure
}

func newJSONL(decode func(any) error, env Env) (Sink, error) {
	var o jsonlOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if o.Path == "" {
		return nil, errors.New("path is missing: give the file to write, such as results.jsonl")
	}
	flags := os.O_CREATE | os.O_RDWR | os.O_EXCL
	if o.Append {
		flags = os.O_CREATE | os.O_RDWR | os.O_APPEND
	}
	file, err := os.OpenFile(o.Path, flags, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s: is there already: give another path, or append: true to go on in it", o.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: check the folder and its permissions", err)
	}
	s := &jsonl{
		encoder: encoder{stream: env.Stream}, file: file, buffer: bufio.NewWriterSize(file, 64<<10),
		flushed: time.Now(), ours: !o.Append,
	}
	s.write = s.line
	return s, s.endTorn()
}

// endTorn ends a line that an earlier run was cut off in, so that ours starts a new one.
func (s *jsonl) endTorn() error {
	info, err := s.file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	var last [1]byte
	if _, err := s.file.ReadAt(last[:], info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		return s.buffer.WriteByte('\n')
	}
	return nil
}

// Write adds m's lines. They are on their way to the disk within a second, as long as messages come.
func (s *jsonl) Write(_ context.Context, m latent.Message) error {
	if err := s.encode(m, s.write); err != nil {
		return s.explain(err)
	}
	if time.Since(s.flushed) < flushEvery {
		return nil
	}
	s.flushed = time.Now()
	return s.explain(s.buffer.Flush())
}

func (s *jsonl) line(_ latent.Kind, line []byte) error {
	if _, err := s.buffer.Write(line); err != nil {
		return err
	}
	s.lines++
	return s.buffer.WriteByte('\n')
}

// explain says what can be done about a file that cannot be written.
func (s *jsonl) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: free space, or give another path; what was written before is kept", err)
}

// Close writes what is left. A file that was made here and got no line is removed.
func (s *jsonl) Close(context.Context) error {
	flushed := s.explain(s.buffer.Flush())
	closed := s.file.Close()
	if s.ours && s.lines == 0 {
		return errors.Join(flushed, closed, os.Remove(s.file.Name()))
	}
	return errors.Join(flushed, closed)
}
