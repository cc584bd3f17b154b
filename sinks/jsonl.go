package sinks

import (
	"context"
	"errors"

	"driftscope/internal/latent"
)

// jsonlOptions are the keys of a JSON Lines file.
type jsonlOptions struct {
	fileOptions
	Append bool `yaml:"append"` // go on in a file that is there; otherwise that is an error
}

// jsonl writes every message as one line of JSON, as on NATS.
type jsonl struct {
	encoder
	recording
	write func(latent.Kind, []byte) error // kept, so that a frame needs no new closure
}

func newJSONL(decode func(any) error, env Env) (Sink, error) {
	var o jsonlOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := o.check("results.jsonl"); err != nil {
		return nil, err
	}
	if o.Append && o.rotates() {
		return nil, errors.New("append: is of one file, and files that follow each other go on by number: leave append out")
	}
	s := &jsonl{encoder: encoder{stream: env.Stream}}
	s.recording = recording{rotation: rotation{fileOptions: o.fileOptions, tables: []string{""}, log: env.Log}, extend: o.Append}
	s.write = s.line
	return s, s.start()
}

// Write adds m's lines. They are on their way to the disk within a second, as long as messages come.
func (s *jsonl) Write(_ context.Context, m latent.Message) error {
	if err := s.ready(); err != nil {
		return err
	}
	if err := s.encode(m, s.write); err != nil {
		return err
	}
	s.settle()
	return nil
}

func (s *jsonl) line(_ latent.Kind, line []byte) error {
	o := s.outputs[0]
	o.records++
	o.pending = append(append(o.pending, line...), '\n')
	return nil
}

// Close writes what is left. A file that was made here and got no line is removed.
func (s *jsonl) Close(context.Context) error { return s.close() }
