package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/store"
)

const (
	// MostConfig is the largest size of a configuration, bytes. The longest shipped one has 4 KiB.
	MostConfig = 64 << 10

	mostLabels = 32
)

var (
	// ErrExists refuses a stream whose name is taken.
	ErrExists = errors.New("there is a stream of that name: remove it first, or replace it")
	// ErrUnknown refuses a change of a stream that does not exist.
	ErrUnknown = errors.New("there is no stream of that name")
	// ErrChanged reports a change of a record that another user has changed at the same time.
	ErrChanged = errors.New("another user changed it at the same time: check it with stream show, and try again")
)

// Stream is a stream that should run.
type Stream struct {
	Name    string    `json:"name"`
	Config  string    `json:"config"`           // YAML, without secrets
	Labels  []string  `json:"labels,omitempty"` // labels that its worker must have
	Cores   float64   `json:"cores"`            // cores that it needs
	Worker  string    `json:"worker,omitempty"` // the worker that a user moved it to; empty means any
	Changed time.Time `json:"changed"`          // by the clock of the user who changed it; for display

	Revision uint64 `json:"-"` // of the record
}

// readStream decodes and checks a record.
func readStream(key string, value []byte, revision uint64) (s Stream, err error) {
	if len(value) > bus.MostDesired {
		return s, fmt.Errorf("%d bytes, expected at most %d", len(value), bus.MostDesired)
	}
	if err := json.Unmarshal(value, &s); err != nil {
		return s, fmt.Errorf("not a stream's record: %w", err)
	}
	if s.Name != key {
		return s, fmt.Errorf("name: found %.70q, expected the key's", s.Name)
	}
	s.Revision = revision
	return s, s.check()
}

// check checks everything except the configuration's text.
func (s *Stream) check() error {
	switch {
	case !token(s.Name):
		return fmt.Errorf("name: found %.70q, expected 1 to %d letters, digits, - or _", s.Name, mostName)
	case len(s.Config) > MostConfig:
		return fmt.Errorf("config: found %d bytes, expected at most %d", len(s.Config), MostConfig)
	case !utf8.ValidString(s.Config):
		return errors.New("config: found bytes that are not UTF-8, expected YAML")
	case !(s.Cores >= 0 && s.Cores <= MostCores):
		return fmt.Errorf("cores: found %g, expected 0 to %d", s.Cores, MostCores)
	case s.Worker != "" && !token(s.Worker):
		return fmt.Errorf("worker: found %.70q, expected a worker's name", s.Worker)
	}
	return checkLabels(s.Labels)
}

func checkLabels(labels []string) error {
	if len(labels) > mostLabels {
		return fmt.Errorf("labels: found %d, expected at most %d", len(labels), mostLabels)
	}
	for _, l := range labels {
		if !token(l) {
			return fmt.Errorf("labels: found %.70q, expected 1 to %d letters, digits, - or _", l, mostName)
		}
	}
	return nil
}

// checkConfig refuses a configuration that cannot run, belongs to another stream, or contains secrets.
func (s *Stream) checkConfig() error {
	c, err := config.Parse(s.Name+".yaml", []byte(s.Config))
	if err != nil {
		return err
	}
	if c.Stream != s.Name {
		return fmt.Errorf("%s.yaml: stream: found %.70q, expected %s, the stream's name", s.Name, c.Stream, s.Name)
	}
	if err := c.WithoutSecrets(); err != nil {
		return fmt.Errorf("%s.yaml: %w", s.Name, err)
	}
	return nil
}

// bytes returns the record in its stored form, with the present time as Changed.
func (s Stream) bytes() ([]byte, error) {
	s.Changed = time.Now().UTC()
	data, err := json.Marshal(s)
	if err == nil && len(data) > bus.MostDesired {
		err = fmt.Errorf("stream %s: its record has %d bytes, expected at most %d", s.Name, len(data), bus.MostDesired)
	}
	return data, err
}

// Add adds a desired stream. It returns ErrExists if the name is taken.
func (s *Site) Add(ctx context.Context, x Stream) (revision uint64, err error) {
	if s.looks {
		return 0, ErrReadOnly
	}
	data, err := x.ready()
	if err != nil {
		return 0, err
	}
	if n := len(s.streams.copied(0).records); n >= MostStreams {
		return 0, fmt.Errorf("stream %s: the site has %d streams, the maximum", x.Name, n)
	}
	revision, err = s.streams.bucket.Values().Create(ctx, x.Name, data)
	if errors.Is(err, jetstream.ErrKeyExists) {
		return 0, fmt.Errorf("stream %s: %w", x.Name, ErrExists)
	}
	return revision, named(x.Name, err)
}

// ready checks a stream from a user, and returns its record in the stored form.
func (s *Stream) ready() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, named(s.Name, err)
	}
	if err := s.checkConfig(); err != nil {
		return nil, named(s.Name, err)
	}
	return s.bytes()
}

// named adds the stream's name to an error.
func named(stream string, err error) error {
	if err == nil {
		return nil
	}
	if store.Refused(err) {
		err = ErrChanged
	}
	return fmt.Errorf("stream %.70s: %w", stream, err)
}

// Replace replaces a stream's record by x. It returns ErrChanged if the record has changed since x.Revision.
func (s *Site) Replace(ctx context.Context, x Stream) (revision uint64, err error) {
	if s.looks {
		return 0, ErrReadOnly
	}
	data, err := x.ready()
	if err != nil {
		return 0, err
	}
	if x.Revision == 0 {
		return 0, named(x.Name, ErrUnknown)
	}
	revision, err = s.streams.bucket.Values().Update(ctx, x.Name, data, x.Revision)
	return revision, named(x.Name, err)
}

// Stream reads one stream's present record from the server.
func (s *Site) Stream(ctx context.Context, name string) (Stream, error) {
	if !token(name) {
		return Stream{}, named(name, ErrUnknown)
	}
	e, err := s.streams.bucket.Values().Get(ctx, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		err = ErrUnknown
		if _, _, vanished := s.streams.find(name); vanished {
			err = fmt.Errorf("its record vanished with the bucket, but it may still run: add it again: %w", err)
		}
	}
	if err != nil {
		return Stream{}, named(name, err)
	}
	x, err := readStream(name, e.Value(), e.Revision())
	return x, named(name, err)
}

// Move pins a stream to a worker, or lets any worker run it if worker is empty. It returns ErrChanged if another user changes the stream at the same time.
func (s *Site) Move(ctx context.Context, name, worker string) error {
	if s.looks {
		return ErrReadOnly
	}
	x, err := s.Stream(ctx, name)
	if err != nil {
		return err
	}
	x.Worker = worker
	if err := x.check(); err != nil {
		return named(name, err)
	}
	data, err := x.bytes()
	if err != nil {
		return err
	}
	_, err = s.streams.bucket.Values().Update(ctx, name, data, x.Revision)
	return named(name, err)
}

// Remove removes a stream, and its worker ends the run. It also removes an unreadable record, and a stream whose record vanished.
func (s *Site) Remove(ctx context.Context, name string) error {
	if s.looks {
		return ErrReadOnly
	}
	if !token(name) {
		return named(name, ErrUnknown)
	}
	kv := s.streams.bucket.Values()
	e, err := kv.Get(ctx, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		if _, _, vanished := s.streams.find(name); vanished {
			return named(name, kv.Delete(ctx, name))
		}
		err = ErrUnknown
	}
	if err != nil {
		return named(name, err)
	}
	return named(name, kv.Delete(ctx, name, jetstream.LastRevision(e.Revision())))
}
