package pipeline

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

const (
	sinkDepth = 256         // messages waiting for one sink
	maxSkips  = 100         // consecutive lost frames tolerated; more end a recording, and are reported for a live source
	abandon   = time.Second // time after Grace until Run returns without a stage that ignores its context
)

// Stages are the components of one stream, from camera to sinks. Run owns all stages and closes each exactly once, also if the run fails.
type Stages struct {
	Source    Source
	Steps     []NamedStep
	Encoders  []Encoder // identical encoders, one per lane
	Viewer    Viewer    // of the encoders' model; nil without a display
	Estimator Estimator
	Watcher   Watcher // nil if there are no rules
	Sinks     []NamedSink
	Swap      Swap // nil if the model cannot be changed
}

// NamedStep is a step with a name for its clock and errors. Steps contains one step that receives every frame in order, or one independent step per encoder.
type NamedStep struct {
	Name  string
	Steps []Step
}

// NamedSink is a sink with its name; its losses count under "sink_" + Name.
type NamedSink struct {
	Name     string
	Sink     Sink
	Commands <-chan latent.Command // commands from the sink, applied between frames; nil if the sink sends none
	Lost     error                 // reason for a message that the sink lost before the run, counted as one loss; nil if it lost none
}

// Options configures the run of a stream. The zero value is ready to use: a duration or Queue of 0 takes the default given below.
type Options struct {
	Stream    string        // for the log
	Frames    uint64        // number of frames after which the run stops; 0 reads until the source or ctx ends
	Mode      Mode          // drop frames or wait if tracking is slower than the source; by default the source decides
	Queue     int           // frames that may wait for the tracker, at most 1 GiB; by default 2 (at most 64 MiB), or 256 for a live source in mode Lossless
	Stall     time.Duration // silence after which a live source counts as lost; 0 waits for ever
	Seed      uint64        // seed of the random pauses before a lost source is reopened
	Grace     time.Duration // time to flush and close everything after the end of ctx or a failure; 3 s
	Health    time.Duration // interval of Health messages; 1 s
	ViewEvery time.Duration // interval of Views; 0 disables them
	KeepEvery time.Duration // interval of checkpoints; 30 s
	Log       *slog.Logger  // nil is silent

	// Keep, if not nil, saves a checkpoint of the estimator, every KeepEvery and at the end; at is the place of its last frame. It is called from its own
	// goroutine, one call at a time, and must not change state.
	Keep func(state []byte, at Place) error
	From Place // place of the last frame that the estimator has learnt from
}

// Summary sums up a run. FramesIn = Tracked + Σ Dropped over all causes except the sinks' ("sink_..."), which count messages.
type Summary struct {
	FramesIn  uint64 // frames read from the source, and frames that the source reported as lost
	Tracked   uint64 // frames encoded and estimated
	Dropped   map[string]uint64
	Published uint64 // messages accepted by sinks
	Duration  time.Duration
	Health    latent.Health // at the end
}

// Run processes frames until the source ends, o.Frames are read, ctx ends or a stage fails. Only a failure is an error. One goroutine reads, one tracks, and
// one writes to each sink.
//
// In mode Latest, slow tracking loses the oldest waiting frame, and a slow sink loses its oldest estimates. In mode Lossless, a file waits for tracking and
// sinks, and with a live source the run fails when the frame queue is full. Run reopens a lost live source until it is back or ctx ends; only the first Open
// must succeed. Frames read before the end are still tracked and delivered, within o.Grace after ctx has ended. A failing sink ends the run at once; the other
// sinks still get the messages in their queues.
func Run(ctx context.Context, s Stages, o Options) (Summary, error) {
	r := newRunner(s, o)
	write, cut := context.WithCancel(context.WithoutCancel(ctx)) // ends with Grace
	defer cut()
	track, abort := context.WithCancel(write) // ends when tracking must stop; from then on publishing does not wait
	defer abort()
	read, stop := context.WithCancel(ctx) // ends when no more frames are needed
	defer stop()
	r.stop, r.abort = stop, abort
	tracker := newTracker(r)

	done := make(chan struct{})
	go func() {
		defer close(done)
		r.flow(tracker, phases{read, track, write})
	}()
	select {
	case <-done:
		return r.summary(), r.cause()
	case <-read.Done():
	}
	flushing := r.o.Grace / 3 // the time reserved for the sinks after tracking has been cut off
	for _, end := range []struct {
		after time.Duration
		stop  func()
	}{{r.o.Grace - flushing, abort}, {flushing, cut}} {
		if within(done, end.after) {
			break
		}
		end.stop()
	}
	if !within(done, abandon) {
		r.fail(fmt.Errorf("%s did not stop within %v: the run ends without it", strings.Join(r.busy(), ", "), r.o.Grace+abandon))
	}
	return r.summary(), r.cause()
}

// phases are three contexts that end in this order: read when no more frames are needed, track when tracking must stop (from then on publishing does not wait),
// write when the grace period is over.
type phases struct{ read, track, write context.Context }

// runner is the state that the goroutines of one run share.
type runner struct {
	stages     Stages
	o          Options
	log        *slog.Logger
	started    time.Time
	waits      atomic.Bool // set once the source is open: it delivers frames on request and is not live
	latest     atomic.Bool // set once the source is open: excess frames are dropped, the oldest first
	sourceLost atomic.Bool // the source is being reopened
	public     bool        // set once the source is open: anyone may send frames
	stop       func()      // ends reading
	abort      func()      // ends tracking

	frames   *queue[*frame.Frame]
	orders   chan order          // commands that are ready to be applied
	swaps    chan latent.Command // commands to change the model, which must be loaded first
	remarks  chan *latent.Event  // events from the reader while it may not wait for a sink
	lost     chan struct{}       // holds a token when report should publish losses
	writers  []*writer
	counters *counters

	reading, folding, publishing clock
	encoding                     atomic.Pointer[[]*clock] // clocks of the steps of the pool in use, in order, and of its encoders

	depth, room, size int // requested depth and bytes of the frame queue, and bytes of the last frame

	mu     sync.Mutex
	err    error    // the first failure
	active []string // names of running goroutines, to report those that never return
}

func newRunner(s Stages, o Options) *runner {
	if o.Grace == 0 {
		o.Grace = 3 * time.Second
	}
	if o.Health == 0 {
		o.Health = time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &runner{
		stages:   s,
		o:        o,
		log:      o.Log.With("stream", o.Stream),
		started:  time.Now(),
		frames:   newQueue[*frame.Frame](shallow),
		orders:   make(chan order),
		swaps:    make(chan latent.Command),
		remarks:  make(chan *latent.Event, sinkDepth),
		lost:     make(chan struct{}, 1),
		counters: newCounters(),
	}
	r.reading.name, r.folding.name, r.publishing.name = "read", "estimate", "publish"
	for _, sink := range s.Sinks {
		r.writers = append(r.writers, newWriter(sink))
	}
	return r
}

// flow starts all stages, waits for the end of the source and of the tracker, publishes the last Health and ends the sinks.
func (r *runner) flow(tracker *tracker, p phases) {
	var feed, background, sinks sync.WaitGroup
	for _, w := range r.writers {
		if w.before != nil {
			r.lose(p.write, r.messagesLost(w, w.before, 1))
		}
		r.spawn(&sinks, "sink "+w.name, func() { r.write(p.write, w) })
	}
	tracked, end := context.WithCancel(context.WithoutCancel(p.track)) // ends when the tracker has ended
	for _, w := range r.writers {
		if w.commands != nil {
			r.spawn(&background, "commands of "+w.name, func() { r.relay(w.commands, tracked.Done()) })
		}
	}
	if r.stages.Swap != nil {
		r.spawn(&background, "model", func() { tracker.swap(tracked, p.track) })
	}
	r.spawn(&background, "health", func() { r.report(p.track, tracked.Done()) })
	r.spawn(&feed, "source", func() { r.read(p) })
	r.spawn(&feed, "tracker", func() { tracker.run(p) })

	feed.Wait()
	end()
	background.Wait()
	r.finalHealth(p.track)
	for _, w := range r.writers {
		w.queue.close()
	}
	sinks.Wait()
}

// clocks returns the clocks of all stages, in order.
func (r *runner) clocks() []*clock {
	return slices.Concat([]*clock{&r.reading}, *r.encoding.Load(), []*clock{&r.folding, &r.publishing})
}

// spawn runs f in a goroutine. busy returns its name until f returns.
func (r *runner) spawn(wg *sync.WaitGroup, name string, f func()) {
	r.mu.Lock()
	r.active = append(r.active, name)
	r.mu.Unlock()
	wg.Go(func() {
		f()
		r.mu.Lock()
		r.active = slices.DeleteFunc(r.active, func(s string) bool { return s == name })
		r.mu.Unlock()
	})
}

// busy returns the names of the goroutines that are still running.
func (r *runner) busy() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.active)
}

// fail stops reading because of err. The first failure becomes the error of the run. Later failures are mostly consequences of the first, and are only logged.
func (r *runner) fail(err error) {
	r.mu.Lock()
	first := r.err == nil
	if first {
		r.err = err
	}
	r.mu.Unlock()
	if !first {
		r.log.Error("after the failure", "err", err)
	}
	r.stop()
}

func (r *runner) cause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// summary returns the account of the run. An abandoned stage may still be counting.
func (r *runner) summary() Summary {
	h := r.last()
	return Summary{
		FramesIn: h.Frames, Tracked: h.Tracked, Dropped: h.Dropped, Published: h.Published,
		Duration: time.Since(r.started), Health: h,
	}
}

// within waits for done, at most for d, and reports whether done was closed.
func within(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
