//go:build cgo

package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
	"driftscope/internal/kit/system"
)

const (
	// attempts is the number of attempts before a film's failure is reported.
	attempts = 3

	later    = 10 * time.Second // delay before a film that found no room is offered again
	pulling  = 2 * time.Second  // lifetime of a request for a film; a stopping worker waits for its end, so that no film is delivered to it and blocked for ackWait
	restart  = time.Second      // delay between attempts to reach an unavailable server or queue
	parting  = 5 * time.Second  // time for returning a film at the end
	workName = "driftscope-work-"
	lockName = "lock"
)

// Worker tracks the films of a site's queue.
type Worker struct {
	Conn     *bus.Conn
	Site     string        // name of the site, for display
	Name     string        // name of this worker in records; if empty, the host's
	Slots    int           // films at a time; 0 means 1
	Temp     string        // folder for films while they are tracked; if empty, the system's
	Replicas int           // replicas of the queue and the records, if they do not exist yet; 0 means 1
	AckWait  time.Duration // silence after which a worker counts as dead, if the queue does not exist yet; 0 means ackWait
	Log      *slog.Logger  // nil is silent

	// Allow resolves the path of a film that was not sent, or refuses it; nil allows any.
	Allow func(key, path string) (string, error)

	site   *site
	wait   time.Duration // AckWait of the queue
	films  jetstream.Consumer
	folder string
	models models
}

// Run tracks films until ctx ends, and then returns unfinished films to the queue.
func (w *Worker) Run(ctx context.Context) (err error) {
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	if w.Name == "" {
		w.Name, _ = os.Hostname()
	}
	if w.site, err = open(ctx, w.Conn, w.Replicas); err != nil {
		return err
	}
	if w.films, err = w.site.consumer(ctx, cmp.Or(w.AckWait, ackWait)); err != nil {
		return err
	}
	w.wait = w.films.CachedInfo().Config.AckWait
	lock, err := w.own()
	if err != nil {
		return err
	}
	defer os.RemoveAll(w.folder)
	defer lock.Close()
	w.Log.Info("working at films", "site", w.Site, "at once", max(w.Slots, 1), "folder", w.folder)
	w.models = models{conn: w.Conn, folder: w.folder}
	var slots sync.WaitGroup
	for range max(w.Slots, 1) {
		slots.Go(func() { w.pull(ctx) })
	}
	slots.Wait()
	return nil
}

// own makes the worker's folder, and removes the folders of killed workers.
func (w *Worker) own() (lock *os.File, err error) {
	temp, err := filepath.Abs(cmp.Or(w.Temp, os.TempDir())) // the child that tracks a film works in another folder
	if err != nil {
		return nil, err
	}
	left, _ := filepath.Glob(filepath.Join(temp, workName+"*")) // the pattern is well-formed
	for _, folder := range left {
		if f := system.Take(filepath.Join(folder, lockName)); f != nil {
			w.Log.Info("removed leftovers of a killed worker", "folder", folder, "err", os.RemoveAll(folder))
			f.Close()
		}
	}
	if w.folder, err = os.MkdirTemp(temp, workName); err != nil {
		return nil, fmt.Errorf("%w: give --temp with a folder for films", err)
	}
	return system.Create(filepath.Join(w.folder, lockName), 0o600)
}

// pull takes one film after another.
func (w *Worker) pull(ctx context.Context) {
	for away := false; ctx.Err() == nil; {
		batch, err := w.films.Fetch(1, jetstream.FetchMaxWait(pulling))
		if err == nil {
			for m := range batch.Messages() {
				w.take(ctx, m)
			}
			err = batch.Error()
		}
		if err == nil || errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages) {
			away = false
			continue
		}
		if !away {
			w.Log.Warn("no films available, trying again", "err", err)
		}
		away = true
		_ = sleep(ctx, restart) // the loop sends the next request
	}
}

// take runs one job and reports the outcome to the queue. If the report is lost, the queue gives the job to another worker, which finds the
// record.
func (w *Worker) take(ctx context.Context, m jetstream.Msg) {
	j, err := parseJob(m.Data())
	if err != nil {
		w.Log.Error("removed a job that no worker can do", "subject", m.Subject(), "err", err)
		w.heard("", m.TermWithReason("not a job"))
		return
	}
	if ctx.Err() != nil {
		w.heard(j.Film, m.Nak())
		return
	}
	stop := w.hold(m, j)
	defer stop()
	what, err := w.attempt(ctx, m, j)
	if err != nil {
		w.Log.Warn("film "+j.Film, "attempt", what, "err", err)
	}
	switch what {
	case done:
		told, cancel := context.WithTimeout(context.WithoutCancel(ctx), asking)
		defer cancel()
		w.heard(j.Film, m.DoubleAck(told))
	case retry:
		w.heard(j.Film, m.NakWithDelay(again))
	case postponed:
		w.heard(j.Film, m.NakWithDelay(later))
	case returned:
		w.heard(j.Film, m.Nak())
		w.heard(j.Film, w.Conn.NATS().FlushTimeout(parting))
	}
}

// heard logs that a report did not reach the queue.
func (w *Worker) heard(film string, err error) {
	if err != nil {
		w.Log.Warn("film "+film+": the outcome did not reach the queue, so the queue delivers the job again", "err", err)
	}
}

// hold keeps a job from other workers until stop is called.
func (w *Worker) hold(m jetstream.Msg, j *job) (stop func()) {
	ended, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(w.wait / 3)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				if err := m.InProgress(); err != nil {
					w.Log.Warn("film "+j.Film+": the server did not receive a sign that this worker is still tracking the film", "err", err)
				}
			}
		}
	}()
	return func() { close(ended); <-gone }
}

// build names this build in records.
func build() string {
	b := console.ReadBuild()
	return cmp.Or(b.Version, b.Commit, "unknown")
}
