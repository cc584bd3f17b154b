package file

import (
	"context"
	"errors"
	"log/slog"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// jsonlOptions are the keys of a JSON Lines file.
type jsonlOptions struct {
	fileOptions      // their keys are siblings of append
	Append      bool `yaml:"append"` // append to an existing file; otherwise an existing file is an error
}

// JSONL writes every message as one line of JSON, as on NATS.
type JSONL struct {
	encoder message.Encoder
	files   recording
	write   func(latent.Kind, []byte) error // s.line, stored because a method value per frame would allocate
}

// NewJSONL creates the first file of a stream. decode fills append and the options of NewCSV except table.
func NewJSONL(decode func(any) error, stream string, log *slog.Logger) (*JSONL, error) {
	var o jsonlOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := o.check("results.jsonl"); err != nil {
		return nil, err
	}
	if o.Append && o.rotates() {
		return nil, errors.New("append: works only with a single file, but rotation writes numbered files: leave append out")
	}
	s := &JSONL{encoder: message.Encoder{Stream: stream}}
	s.files = recording{rotation: rotation{options: o.fileOptions, tables: []string{""}, log: log}, extend: o.Append, extends: true}
	s.write = s.line
	return s, s.files.start()
}

// Write adds m's lines. They reach the disk within a second, as long as messages arrive.
func (s *JSONL) Write(_ context.Context, m latent.Message) error {
	if err := s.files.ready(); err != nil {
		return err
	}
	if err := s.encoder.Encode(m, s.write); err != nil {
		return err
	}
	s.files.settle()
	return nil
}

func (s *JSONL) line(_ latent.Kind, line []byte) error {
	o := s.files.outputs[0]
	o.records++
	o.pending = append(append(o.pending, line...), '\n')
	return nil
}

// Close writes the remaining lines. It removes a file of this run that has no lines.
func (s *JSONL) Close(context.Context) error { return s.files.close() }
