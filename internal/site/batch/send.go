package batch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/kit/console"
)

// sending is a batch while its client runs.
type sending struct {
	c     *Command
	site  *site
	store jetstream.ObjectStore
	base  config.Config
	model chosen

	ledger   *ledger
	progress *progress
	kick     chan struct{} // a record may exist that the watcher has not reported

	mu      sync.Mutex
	waiting map[string]*waited // by job
	there   int64              // bytes of films on the server that this client put there
	all     bool               // every film was offered
	failed  int
}

// waited is a job whose record has not arrived yet.
type waited struct {
	job   *job
	films []film // films with the same bytes
	since uint64 // records up to this revision belong to an earlier command
	sent  int64  // bytes
}

// send tracks the films of a batch, here or through a server.
func (c *Command) send(ctx context.Context, films []film, base config.Config) (err error) {
	s := &sending{c: c, base: base, waiting: map[string]*waited{}, kick: make(chan struct{}, 1)}
	if s.ledger, err = openLedger(c.Out); err != nil {
		return console.Usage(err)
	}
	defer s.ledger.close()
	var conn *bus.Conn
	var end func() error
	if c.URL != "" {
		if conn, err = c.connect(ctx, "driftscope batch", slog.LevelWarn); err != nil {
			return err
		}
		end = conn.Close
	} else if conn, end, err = c.serve(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if s.model, err = c.keep(ctx, conn, base.Model); err != nil {
		return err
	}
	if c.Name == "" {
		if c.Name, err = s.implied(); err != nil {
			return err
		}
	}
	if s.site, err = open(ctx, conn, c.Replicas); err != nil {
		return err
	}
	if s.store, err = s.site.objects(ctx, c.Name); err != nil {
		return err
	}
	return s.run(ctx, films)
}

// implied derives a batch's name from its settings, so that more films with the same settings belong to the same batch.
func (s *sending) implied() (string, error) {
	j, err := s.c.job(s.base, &film{path: "any", kind: "directory"}, s.model, sum{})
	if err != nil {
		return "", err
	}
	return "batch-" + j.settings()[:12], nil
}

// run offers every film, and meanwhile fetches finished results.
func (s *sending) run(ctx context.Context, films []film) error {
	s.progress = newProgress(len(films))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	offered := make(chan error, 1)
	go func() {
		err := s.offerAll(ctx, films)
		if err != nil || s.c.NoWait {
			cancel()
		}
		offered <- err
	}()
	err := s.collect(ctx)
	if err != nil {
		cancel()
	}
	if lost := <-offered; err == nil || lost != nil && !errors.Is(lost, context.Canceled) {
		err = errors.Join(lost, skipCanceled(err))
	}
	s.progress.finish()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.c.NoWait && s.all && skipCanceled(err) == nil:
		console.Say("%d films of batch %s wait for workers: repeat the command without --no-wait to fetch the results", len(s.waiting), s.c.Name)
		return nil
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("interrupted: %d films of batch %s have no result yet: repeat the command to continue", len(films)-s.progress.done-s.progress.there-s.failed, s.c.Name)
	case err != nil:
		return err
	case s.failed > 0:
		return fmt.Errorf("%d of %d films failed: see %s for the reasons, and repeat the command to retry them", s.failed, len(films), s.ledger.path())
	}
	return nil
}

func skipCanceled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// offerAll offers one film after the other.
func (s *sending) offerAll(ctx context.Context, films []film) error {
	for i := range films {
		if err := s.offer(ctx, &films[i]); err != nil {
			return fmt.Errorf("film %s: %w", films[i].path, err)
		}
	}
	s.mu.Lock()
	s.all = true
	s.mu.Unlock()
	s.poke()
	return nil
}

// poke makes collect check its state.
func (s *sending) poke() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}

// offer puts a film's job into the queue, unless its result exists.
func (s *sending) offer(ctx context.Context, f *film) error {
	found, err := f.identity(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // the other films continue
		return s.conclude(&entry{Film: f.name, Path: f.path, Failed: []string{err.Error()}})
	}
	j, err := s.c.job(s.base, f, s.model, found)
	if err != nil {
		return err
	}
	if s.ledger.has(ctx, f.name, j) {
		s.progress.had()
		return s.release(ctx, &waited{job: j}, &record{}) // a client may have been killed between both steps
	}
	if s.joined(j, f) {
		return nil
	}
	r, revision, err := s.site.ended(ctx, j)
	if err != nil {
		return err
	}
	w := &waited{job: j, films: []film{*f}, since: revision}
	switch {
	case r != nil && len(r.Failed) == 0 && s.stored(ctx, r):
		return s.fetch(ctx, w, r)
	case r != nil:
		if err := s.site.forget(ctx, j); err != nil {
			return err
		}
	}
	if j.Path == "" {
		if w.sent, err = s.upload(ctx, f, j); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.waiting[j.ID] = w
	s.mu.Unlock()
	return s.site.enqueue(ctx, j, revision)
}

// stored reports whether a record's result still exists.
func (s *sending) stored(ctx context.Context, r *record) bool {
	if r.Object == "" {
		return true
	}
	_, err := s.store.GetInfo(ctx, r.Object)
	return err == nil
}

// joined makes a film wait for the result of an equal film, if there is one.
func (s *sending) joined(j *job, f *film) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.waiting[j.ID]
	if w == nil {
		return false
	}
	w.films = append(w.films, *f)
	return true
}

// upload puts a film into the store, once there is room, and returns the number of bytes sent, 0 if the store already had the film.
func (s *sending) upload(ctx context.Context, f *film, j *job) (int64, error) {
	name := filmObject(j.Digest)
	if info, err := s.store.GetInfo(ctx, name); err == nil && info.Size == uint64(j.Bytes) {
		return 0, nil
	}
	if err := s.reserve(ctx, j.Bytes); err != nil {
		return 0, err
	}
	from, to := io.Pipe()
	written := make(chan sum, 1)
	go func() {
		w, err := f.write(ctx, to)
		to.CloseWithError(err)
		written <- w
	}()
	_, err := s.store.Put(ctx, jetstream.ObjectMeta{Name: name, Description: j.Film}, from)
	from.CloseWithError(io.ErrClosedPipe)
	if w := <-written; err == nil && w != (sum{j.Digest, j.Bytes}) {
		return j.Bytes, errors.Join(errors.New("changed while it was sent: repeat the command when the recording is finished"), s.store.Delete(ctx, name))
	}
	return j.Bytes, explain(err)
}

// reserve waits until the server has room for the given number of bytes.
func (s *sending) reserve(ctx context.Context, bytes int64) error {
	const giga = 1_000_000_000
	for {
		s.mu.Lock()
		if s.there == 0 || s.c.NoWait || s.there+bytes <= int64(s.c.Room)*giga {
			s.there += bytes
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		if err := sleep(ctx, again); err != nil {
			return err
		}
	}
}
