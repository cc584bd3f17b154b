package site

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/store"
)

// mostRunning is the largest number of streams of one worker.
const mostRunning = 1000

// ErrName refuses a worker whose name another process uses.
var ErrName = errors.New("another process is the worker of that name: give this worker another name, or wait until the other has ended")

// Worker is a live worker.
type Worker struct {
	Name     string    `json:"name"`
	ID       string    `json:"id"` // id of its process, as in leases
	Cores    float64   `json:"cores"`
	Labels   []string  `json:"labels,omitempty"`
	Version  string    `json:"version,omitempty"`
	Since    time.Time `json:"since"` // by its own clock; for display
	Draining bool      `json:"draining,omitempty"`
	Load     float64   `json:"load"` // cores that it uses
	Streams  []Running `json:"streams,omitempty"`
}

// Running is a stream that a worker runs.
type Running struct {
	Stream string `json:"stream"`
	Epoch  uint64 `json:"epoch"`
	// Problem is the reason why the stream does not run although the worker holds its lease. It is empty if the stream runs, or beyond MostProblems.
	Problem string `json:"problem,omitempty"`
}

// Bounds on problems in a worker's record: characters per problem, and number of problems.
const (
	MostProblem  = 400
	MostProblems = 16
)

// readWorker decodes and checks a record.
func readWorker(key string, value []byte, _ uint64) (w Worker, err error) {
	if len(value) > bus.MostAnnounce {
		return w, fmt.Errorf("%d bytes, expected at most %d", len(value), bus.MostAnnounce)
	}
	if err := json.Unmarshal(value, &w); err != nil {
		return w, fmt.Errorf("not a worker's record: %w", err)
	}
	if w.Name != key {
		return w, fmt.Errorf("name: found %.70q, expected the key's", w.Name)
	}
	return w, w.check()
}

func (w *Worker) check() error {
	switch {
	case !token(w.Name):
		return fmt.Errorf("name: found %.70q, expected 1 to %d letters, digits, - or _", w.Name, mostName)
	case !token(w.ID):
		return fmt.Errorf("id: found %.70q, expected 1 to %d letters, digits, - or _", w.ID, mostName)
	case !(w.Cores > 0 && w.Cores <= MostCores):
		return fmt.Errorf("cores: found %g, expected more than 0 and at most %d", w.Cores, MostCores)
	case !(w.Load >= 0 && w.Load <= math.MaxFloat32):
		return fmt.Errorf("load: found %g, expected cores", w.Load)
	case len(w.Version) > mostName:
		return fmt.Errorf("version: found %d characters, expected at most %d", len(w.Version), mostName)
	case len(w.Streams) > mostRunning:
		return fmt.Errorf("streams: found %d, expected at most %d", len(w.Streams), mostRunning)
	}
	for _, r := range w.Streams {
		if !token(r.Stream) {
			return fmt.Errorf("streams: found %.70q, expected a stream's name", r.Stream)
		}
		if utf8.RuneCountInString(r.Problem) > MostProblem {
			return fmt.Errorf("streams: problem: found %d characters, expected at most %d", utf8.RuneCountInString(r.Problem), MostProblem)
		}
	}
	return checkLabels(w.Labels)
}

// announced is this worker's record.
type announced struct {
	mu       sync.Mutex
	revision uint64 // 0 if not written
}

// Announce writes this worker's record, with the site's own name and id. Call it every third of the TTL. It returns ErrName if another process has the name.
func (s *Site) Announce(ctx context.Context, w Worker) error {
	if s.looks || s.o.Worker == nobody {
		return ErrReadOnly
	}
	w.Name, w.ID = s.o.Worker, s.leases.ID()
	if err := w.check(); err != nil {
		return fmt.Errorf("worker %s: %w", w.Name, err)
	}
	data, err := json.Marshal(w)
	if err != nil {
		return err
	}
	s.mine.mu.Lock()
	defer s.mine.mu.Unlock()
	kv := s.workers.bucket.Values()
	if s.mine.revision != 0 {
		revision, err := kv.Update(ctx, w.Name, data, s.mine.revision)
		if err == nil {
			s.mine.revision = revision
			return nil
		}
		if !store.Refused(err) {
			return fmt.Errorf("worker %s: %w", w.Name, err)
		}
	}
	s.mine.revision, err = s.enter(ctx, kv, w.Name, data)
	if err != nil {
		s.mine.revision = 0
		return fmt.Errorf("worker %s: %w", w.Name, err)
	}
	return nil
}

// enter writes the record if there is none, if it is this process's own, or if it has not changed for a TTL.
func (s *Site) enter(ctx context.Context, kv jetstream.KeyValue, name string, data []byte) (uint64, error) {
	revision, err := kv.Create(ctx, name, data)
	if !errors.Is(err, jetstream.ErrKeyExists) {
		return revision, err
	}
	e, there, _ := s.workers.find(name)
	if !there {
		return 0, ErrName
	}
	if e.record.ID != s.leases.ID() && time.Since(e.at) < s.TTL() {
		return 0, fmt.Errorf("%w (it started at %s, by its clock)", ErrName, e.record.Since.Format(time.DateTime))
	}
	revision, err = kv.Update(ctx, name, data, e.revision)
	if store.Refused(err) {
		err = ErrName
	}
	return revision, err
}

// Retire removes this worker's record.
func (s *Site) Retire(ctx context.Context) error {
	s.mine.mu.Lock()
	defer s.mine.mu.Unlock()
	if s.mine.revision == 0 {
		return nil
	}
	err := s.workers.bucket.Values().Delete(ctx, s.o.Worker, jetstream.LastRevision(s.mine.revision))
	s.mine.revision = 0
	if err != nil {
		return fmt.Errorf("worker %s: %w", s.o.Worker, err)
	}
	return nil
}
