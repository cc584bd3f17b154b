//go:build cgo

package batch

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// fate is the outcome of an attempt at a job.
type fate string

const (
	done      fate = "done"      // a record of a result or of a failure exists
	retry     fate = "failed"    // the film is at fault, as far as known
	postponed fate = "postponed" // the worker or the server is at fault
	returned  fate = "returned"  // the worker is ending
)

// errFilm marks an error caused by the film, which counts as an attempt.
type errFilm struct{ error }

// Unwrap returns the wrapped error.
func (e errFilm) Unwrap() error { return e.error }

// attempt does a job, unless its record exists. It counts the attempt first, so that an attempt that kills the worker counts too.
func (w *Worker) attempt(ctx context.Context, m jetstream.Msg, j *job) (fate, error) {
	switch r, _, err := w.site.ended(ctx, j); {
	case err != nil:
		return postponed, err
	case r != nil:
		return done, nil
	}
	var begun bool
	tries, err := w.tries(ctx, j, func(t []try) []try {
		if begun = len(t) < attempts; begun {
			t = append(t, try{Worker: w.Name})
		}
		return t
	})
	info, told := m.Metadata()
	switch {
	case err != nil:
		return postponed, err
	case told == nil && info.NumDelivered > mostDeliveries:
		return w.fail(ctx, j, append(reasons(tries), fmt.Sprintf("the server delivered it %d times but no worker tracked it: check the workers' logs", info.NumDelivered)))
	case !begun:
		return w.fail(ctx, j, reasons(tries))
	}
	r, err := w.do(ctx, j)
	last := len(tries) - 1
	var film errFilm
	switch {
	case err == nil:
		r.Attempts = len(tries)
		return w.keep(ctx, j, r)
	case ctx.Err() != nil:
		return returned, w.withdraw(ctx, j, last)
	case !errors.As(err, &film):
		return postponed, errors.Join(err, w.withdraw(ctx, j, last))
	}
	tries, failed := w.tries(ctx, j, func(t []try) []try {
		if last < len(t) {
			t[last].Why = err.Error()
		}
		return t
	})
	if failed == nil && len(tries) == attempts {
		return w.fail(ctx, j, reasons(tries))
	}
	return retry, errors.Join(err, failed)
}

// withdraw removes an attempt from the record if the film is not the reason: the worker is ending, or has no room.
func (w *Worker) withdraw(ctx context.Context, j *job, at int) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), parting)
	defer cancel()
	_, err := w.tries(ctx, j, func(t []try) []try {
		if at < len(t) && t[at].Worker == w.Name && t[at].Why == "" {
			return slices.Delete(t, at, at+1)
		}
		return t
	})
	return err
}

// changes is the number of attempts to change a shared record.
const changes = 10

// tries changes the record of a job's attempts. A read may be stale, so only a compare-and-set counts.
func (w *Worker) tries(ctx context.Context, j *job, change func([]try) []try) (t []try, err error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	for range changes {
		var at uint64
		t = nil
		e, err := w.site.records.Get(ctx, j.tried())
		switch {
		case err == nil:
			at = e.Revision()
			if err := json.Unmarshal(e.Value(), &t); err != nil {
				return nil, fmt.Errorf("the record of attempts is unreadable: %w", err)
			}
		case !errors.Is(err, jetstream.ErrKeyNotFound):
			return nil, explain(err)
		}
		t = change(t)
		data, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		if at == 0 {
			_, err = w.site.records.Create(ctx, j.tried(), data)
		} else {
			_, err = w.site.records.Update(ctx, j.tried(), data, at)
		}
		if err == nil {
			return t, nil
		}
		if !errors.Is(err, jetstream.ErrKeyExists) { // also returned by Update if the record has changed
			return nil, explain(err)
		}
		time.Sleep(again / changes)
	}
	return nil, errors.New("the record of attempts changed again and again during the update")
}

// fail records that a film failed, with the reasons.
func (w *Worker) fail(ctx context.Context, j *job, why []string) (fate, error) {
	r := &record{V: jobVersion, Film: j.Film, Failed: why, Attempts: len(why), Worker: w.Name, Build: build()}
	if _, err := w.site.end(context.WithoutCancel(ctx), j, r); err != nil {
		return postponed, err
	}
	w.Log.Warn("film "+j.Film+" has failed", "attempts", len(why), "why", why[len(why)-1])
	return done, nil
}

// keep records a result that is in the store. If another worker was first, its record is kept and this result is discarded.
func (w *Worker) keep(ctx context.Context, j *job, r *record) (fate, error) {
	first, err := w.site.end(context.WithoutCancel(ctx), j, r)
	switch {
	case err != nil:
		return postponed, err
	case !first && r.Object != "":
		return done, w.discard(ctx, j, r.Object)
	}
	w.Log.Info("film "+j.Film+" is tracked", "frames", r.Account.In, "seconds", r.Seconds)
	return done, nil
}

// discard removes a result that another worker has stored too.
func (w *Worker) discard(ctx context.Context, j *job, object string) error {
	store, err := w.site.objects(ctx, j.Batch)
	if err == nil {
		err = store.Delete(ctx, object)
	}
	return err
}

// do tracks the film in a separate folder and puts the result into the store.
func (w *Worker) do(ctx context.Context, j *job) (*record, error) {
	began := time.Now()
	folder, err := os.MkdirTemp(w.folder, "film-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	store, err := w.site.objects(ctx, j.Batch)
	if err != nil {
		return nil, err
	}
	o := order{Job: *j}
	if o.Film, err = w.fetch(ctx, store, j, folder); err != nil {
		return nil, err
	}
	if o.Model, err = w.models.file(ctx, j); err != nil {
		return nil, err
	}
	r := &record{V: jobVersion, Film: j.Film, Worker: w.Name, Build: build()}
	if r.Account, err = trackApart(ctx, folder, o); err != nil {
		return nil, errFilm{err}
	}
	r.Seconds = time.Since(began).Seconds()
	return r, w.put(ctx, store, j, filepath.Join(folder, resultName+j.Ending), r)
}

// put stores a result under a name unique to this attempt, so that it cannot damage another worker's result for the same job.
func (w *Worker) put(ctx context.Context, store jetstream.ObjectStore, j *job, path string, r *record) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return nil // a table without a row
	}
	if err != nil {
		return err
	}
	f := film{path: path}
	s, err := f.identity(ctx)
	if err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	r.Object, r.SHA256, r.Bytes = "result/"+j.ID+"/"+rand.Text(), s.digest, s.bytes
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: r.Object}, file)
	return explain(err)
}
