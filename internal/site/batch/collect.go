package batch

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

const (
	// silence is how long a watcher may report nothing before it is replaced. A new watcher begins with all records. A watcher that missed a
	// restart of the server would stay silent for ever.
	silence = time.Minute

	fetches = 3           // attempts to fetch a result before it counts as lost
	again   = time.Second // time before a failed film or request is tried again
)

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// finished reports whether every film was offered and has a result or a reason for its failure.
func (s *sending) finished() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all && len(s.waiting) == 0
}

// collect fetches results as they are made, until it has all or ctx ends.
func (s *sending) collect(ctx context.Context) error {
	for {
		over, err := s.watch(ctx)
		if over || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		if err != nil {
			s.progress.say("the records cannot be read, so it tries again: %v", explain(err))
			if err := sleep(ctx, again); err != nil {
				return err
			}
		}
	}
}

// watch handles records until the batch is over or the watcher is silent for too long.
func (s *sending) watch(ctx context.Context) (over bool, err error) {
	watcher, err := s.site.records.Watch(ctx, s.c.Name+".*.ended", jetstream.IgnoreDeletes())
	if err != nil {
		return false, err
	}
	defer watcher.Stop()
	for quiet := time.NewTimer(silence); ; quiet.Reset(silence) {
		if s.finished() {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-s.kick:
		case <-quiet.C:
			return false, s.requeue(ctx)
		case e, more := <-watcher.Updates():
			if !more {
				return false, nil
			}
			if e == nil { // all existing records have been handled
				continue
			}
			if err := s.told(ctx, e); err != nil {
				return true, err
			}
		}
	}
}

// requeue enqueues all awaited jobs again, in case the queue was emptied. The server refuses a job that is still queued. A worker that gets a
// finished job finds its record.
func (s *sending) requeue(ctx context.Context) error {
	s.mu.Lock()
	waiting := slices.Collect(maps.Values(s.waiting))
	s.mu.Unlock()
	for _, w := range waiting {
		if err := s.site.enqueue(ctx, w.job, w.since); err != nil {
			return err
		}
	}
	return nil
}

// told handles a record of a waiting job.
func (s *sending) told(ctx context.Context, e jetstream.KeyValueEntry) error {
	id := strings.TrimSuffix(strings.TrimPrefix(e.Key(), s.c.Name+"."), ".ended")
	s.mu.Lock()
	w := s.waiting[id]
	s.mu.Unlock()
	if w == nil || e.Revision() <= w.since {
		return nil
	}
	r, err := parseRecord(e.Value())
	if err != nil {
		return fmt.Errorf("film %s: %w", w.job.Film, err)
	}
	return s.fetch(ctx, w, r)
}

// fetch writes a job's result to the result files of its films, and frees the room on the server.
func (s *sending) fetch(ctx context.Context, w *waited, r *record) error {
	s.mu.Lock()
	delete(s.waiting, w.job.ID) // a later copy of the film is a new job
	s.mu.Unlock()
	for i := range w.films {
		f := &w.films[i]
		e := entry{Film: f.name, Path: f.path, Job: w.job.ID, Digest: w.job.Digest, Settings: w.job.settings(), Failed: r.Failed, Attempts: r.Attempts,
			Worker: r.Worker, Build: r.Build, Seconds: r.Seconds, account: r.Account}
		if r.Object != "" {
			e.Out, e.Bytes, e.SHA256 = f.name+w.job.Ending, r.Bytes, r.SHA256
			if err := s.download(ctx, filepath.Join(s.c.Out, e.Out), r); err != nil {
				return fmt.Errorf("film %s: its result: %w", f.name, err)
			}
		}
		if err := s.conclude(&e); err != nil {
			return err
		}
	}
	return s.release(ctx, w, r)
}

// conclude records the outcome of a film.
func (s *sending) conclude(e *entry) error {
	if len(e.Failed) > 0 {
		s.mu.Lock()
		s.failed++
		s.mu.Unlock()
	}
	err := s.ledger.add(*e)
	s.progress.ended(e)
	return err
}

// release frees the server's copy of a film, unless another job uses it. In a batch without --nats it also frees the result.
func (s *sending) release(ctx context.Context, w *waited, r *record) error {
	s.mu.Lock()
	s.there -= w.sent
	for _, o := range s.waiting {
		if o.job.Digest == w.job.Digest {
			s.mu.Unlock()
			return nil
		}
	}
	s.mu.Unlock()
	var err error
	if w.job.Path == "" {
		err = s.store.Delete(ctx, filmObject(w.job.Digest))
	}
	if s.c.URL == "" && r.Object != "" {
		err = errors.Join(err, s.store.Delete(ctx, r.Object))
	}
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil
	}
	return explain(err)
}

// download fetches a result. It checks the digest before it gives the file its final name.
func (s *sending) download(ctx context.Context, path string, r *record) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	console.Sweep(path)
	for range fetches {
		if err = s.downloadOnce(ctx, path, r); err == nil || ctx.Err() != nil {
			return err
		}
		if err := sleep(ctx, again); err != nil {
			return err
		}
	}
	return err
}

func (s *sending) downloadOnce(ctx context.Context, path string, r *record) error {
	from, err := s.store.Get(ctx, r.Object)
	if err != nil {
		return explain(err)
	}
	defer from.Close()
	var random [8]byte
	rand.Read(random[:]) // never fails
	to, err := system.Create(path+"."+hex.EncodeToString(random[:])+system.Suffix, 0o644)
	if err != nil {
		return err
	}
	defer to.Close()
	_, err = io.Copy(to, io.LimitReader(from, r.Bytes+1))
	if err == nil {
		err = to.Sync()
	}
	if err == nil {
		err = s.sameBytes(ctx, to.Name(), r)
	}
	if err == nil {
		err = system.Rename(to.Name(), path)
	}
	if err != nil {
		os.Remove(to.Name())
	}
	return err
}

func (s *sending) sameBytes(ctx context.Context, path string, r *record) error {
	f := film{path: path}
	found, err := f.identity(ctx)
	if err == nil && found != (sum{r.SHA256, r.Bytes}) {
		err = fmt.Errorf("found %d bytes with the SHA-256 %s, expected %d with %s", found.bytes, found.digest, r.Bytes, r.SHA256)
	}
	return err
}
