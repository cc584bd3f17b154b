package work

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/stream"
	"driftscope/internal/site"
	"driftscope/internal/site/batch"
	"driftscope/sinks/message"
)

// Options configure a worker.
type Options struct {
	NATS     config.NATS // the connection, with the prefix and the site
	Name     string
	Cores    float64 // cores for streams
	Labels   []string
	Allow    *reach.Allowed // resources that streams may reach here
	Store    string         // folder for unsent data and for films
	Films    int            // concurrent films of batches; 0 takes none
	Replicas int            // replicas of the resources that it makes
	TTL      time.Duration  // TTL of leases, if this worker makes the site
	Version  string
	Log      *slog.Logger // nil is silent
}

// Worker runs streams of a site. Run is called once.
type Worker struct {
	o       Options
	bus     *bus.Conn
	site    *site.Site
	leases  *site.Leases
	started time.Time

	tasks sync.WaitGroup // runs, claims, and goroutines that give runs up

	mu        sync.Mutex
	draining  bool
	runs      map[string]*run
	claims    map[string]*claim
	elsewhere map[string]wish // by stream that runs here, another worker to which the plan assigns it
	cores     map[string]float64
	waiting   []message.WaitingRecord
	builds    map[string]bool // other builds already reported
	usage     usage

	nudged chan struct{} // has a token if it is time for another step
}

// claim is the knowledge about a stream that this worker does not run.
type claim struct {
	alone time.Time // time since which no worker has held the lease, as seen here
	again time.Time // time of the next attempt
	busy  bool      // an attempt is under way
	after *uint64   // the epoch of the stored data; nil if not read
}

// wish is the worker to which the plan assigns a stream.
type wish struct {
	to    string
	since time.Time
}

// New returns a worker. It opens the site, or makes it.
func New(ctx context.Context, b *bus.Conn, o Options) (*Worker, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	stream.ShareCores()
	s, err := site.Open(ctx, b, site.Options{Replicas: o.Replicas, TTL: o.TTL, Worker: o.Name, Version: o.Version, Log: o.Log})
	if err != nil {
		return nil, err
	}
	return &Worker{o: o, bus: b, site: s, leases: s.Held(), started: time.Now(),
		runs: map[string]*run{}, claims: map[string]*claim{}, elsewhere: map[string]wish{}, cores: map[string]float64{}, builds: map[string]bool{}, nudged: make(chan struct{}, 1)}, nil
}

// Close ends watching, once Run has returned.
func (w *Worker) Close() { w.site.Close() }

// filmsAgain is the delay before the worker of films starts again after a failure, such as an unavailable queue.
const filmsAgain = 10 * time.Second

// tellEvery is the interval between messages about this worker.
const tellEvery = time.Second

// Run takes streams and runs them until ctx ends, or until another process has the worker's name. Then it hands over its streams, and returns when other
// workers can take them.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.enter(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(w.o.Store, 0o700); err != nil {
		return fmt.Errorf("--store: %w: give a folder that can be written", err)
	}
	work, end := context.WithCancel(context.WithoutCancel(ctx)) // not ctx, because runs continue until they are handed over
	defer end()
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	var saying sync.WaitGroup
	saying.Go(func() {
		var here bus.Stay
		w.every(work, w.site.TTL()/3, func() error {
			err := w.announce(work)
			switch {
			case w.replaced(err):
				leave(err)
			case err != nil:
				here.Failed(w.bus.NATS())
			default:
				here.Worked()
			}
			return err
		})
	})
	saying.Go(func() { w.every(work, tellEvery, func() error { return w.tell(time.Now()) }) })
	if w.o.Films > 0 {
		films := batch.Worker{Conn: w.bus, Site: w.o.NATS.Site, Name: w.o.Name, Slots: w.o.Films, Temp: w.o.Store, Replicas: w.o.Replicas, Log: w.o.Log, Allow: w.o.Allow.Path}
		w.tasks.Go(func() { w.every(ctx, filmsAgain, func() error { return films.Run(ctx) }) })
	}
	watching, stop := context.WithCancel(work)
	snapshots := w.site.Watch(watching)
	for open := true; open && ctx.Err() == nil; {
		select {
		case s, more := <-snapshots:
			if open = more; more {
				w.look(work, &s)
			}
		case <-w.nudged:
			s := w.site.Now()
			w.look(work, &s)
		case <-ctx.Done():
		}
	}
	stop()
	err := w.drain(work)
	end()
	saying.Wait()
	w.tasks.Wait()
	if cause := context.Cause(ctx); errors.Is(cause, site.ErrName) {
		err = errors.Join(cause, err)
	}
	return err
}

// replaced reports whether err means that another process took this worker's name while this process was frozen or disconnected.
func (w *Worker) replaced(err error) bool {
	return errors.Is(err, site.ErrName) && slices.ContainsFunc(w.site.Workers(), func(o site.Worker) bool { return o.Name == w.o.Name && o.ID != w.leases.ID() })
}

// nudge makes the worker check the site again.
func (w *Worker) nudge() {
	select {
	case w.nudged <- struct{}{}:
	default:
	}
}

// every calls do at once and then at intervals of pause, until ctx ends. It logs failures at most once a minute.
func (w *Worker) every(ctx context.Context, pause time.Duration, do func() error) {
	tick := time.NewTicker(pause)
	defer tick.Stop()
	told := bus.Seldom{Every: time.Minute}
	for ctx.Err() == nil {
		if err := do(); err != nil && ctx.Err() == nil {
			if _, due := told.Due(""); due {
				w.o.Log.Warn("a periodic task failed and will be tried again", "worker", w.o.Name, "err", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// enter announces the worker. The record of a killed worker of this name exists for a TTL.
func (w *Worker) enter(ctx context.Context) error {
	for end := time.Now().Add(2 * w.site.TTL()); ; {
		err := w.announce(ctx)
		if !errors.Is(err, site.ErrName) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(w.site.TTL() / 10):
		}
	}
}

// announce writes the worker's record.
func (w *Worker) announce(ctx context.Context) error {
	ctx, done := context.WithTimeout(ctx, w.site.TTL()/3)
	defer done()
	w.mu.Lock()
	record := site.Worker{Cores: w.o.Cores, Labels: w.o.Labels, Version: w.o.Version, Since: w.started.UTC(), Draining: w.draining, Load: w.usage.since(time.Now())}
	problems := 0
	for _, r := range w.runs {
		as := site.Running{Stream: r.name, Epoch: r.held.Epoch()}
		if _, problem := r.how(); problem != "" && problems < site.MostProblems {
			problems++
			as.Problem = fmt.Sprintf("%.*s", site.MostProblem, message.Printable(problem))
		}
		record.Streams = append(record.Streams, as)
	}
	w.mu.Unlock()
	return w.site.Announce(ctx, record)
}

// drain hands over all streams, each to the worker in the plan without this worker.
func (w *Worker) drain(ctx context.Context) error {
	w.mu.Lock()
	w.draining = true
	runs := make([]*run, 0, len(w.runs))
	for _, r := range w.runs {
		runs = append(runs, r)
	}
	w.mu.Unlock()
	failed := w.announce(ctx)
	if errors.Is(failed, site.ErrName) {
		failed = nil // the record belongs to another process
	}
	s := w.site.Now()
	for i := range s.Workers {
		if s.Workers[i].Name == w.o.Name {
			s.Workers[i].Draining = true
		}
	}
	plan := s.Plan()
	var giving sync.WaitGroup
	for _, r := range runs {
		giving.Go(func() { w.giveUp(ctx, r, plan.Places[r.name]) })
	}
	giving.Wait()
	retiring, done := context.WithTimeout(ctx, w.site.TTL())
	defer done()
	if err := w.site.Retire(retiring); err != nil {
		failed = errors.Join(failed, fmt.Errorf("other workers will list this worker for another %v: %w", w.site.TTL(), err))
	}
	if err := w.tell(time.Now()); err != nil { // the last message, so that pages do not report the worker as missing
		failed = errors.Join(failed, err)
	}
	return failed
}
