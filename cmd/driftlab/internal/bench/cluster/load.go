package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
	"driftscope/internal/site"
)

// simulations is the result of bench cluster --study load.
type simulations struct {
	origin
	Simulations []simulation `json:"simulations"`
	Problem     string       `json:"problem,omitempty"`
}

// simulation is many workers that only hold leases and announce themselves.
type simulation struct {
	Workers  int     `json:"workers"`
	Streams  int     `json:"streams"`
	Seconds  float64 `json:"seconds"`
	Wanted   float64 `json:"kv_writes_wanted_s"` // renewals and announcements that the TTL requires
	Writes   float64 `json:"kv_writes_s"`        // accepted by the server
	In       float64 `json:"messages_in_s"`
	Out      float64 `json:"messages_out_s"`
	OutBytes float64 `json:"bytes_out_s"`
	P50      float64 `json:"announce_p50_s"` // until the server confirmed a record
	P99      float64 `json:"announce_p99_s"`
	Failed   uint64  `json:"announce_failed"`
	Lost     uint64  `json:"leases_lost"`
	Seen     int     `json:"workers_seen"` // by one worker, at the end
	Plan     float64 `json:"plan_s"`       // one plan of this site
	Consumer int     `json:"consumers"`
}

// simulationSizes are the worker counts tried up to --workers.
var simulationSizes = []int{10, 30, 100, 300, 1000}

// simulationTime is the duration of each measurement: several renewals.
const simulationTime = 15 * time.Second

// load measures the cost of a site's records with many workers.
func (c *Command) load(ctx context.Context) (found, error) {
	f := &simulations{origin: c.origin()}
	for _, n := range simulationSizes {
		if n > c.Workers {
			break
		}
		x, err := c.simulation(ctx, n)
		if err != nil {
			f.Problem = fmt.Sprintf("%d workers: %v", n, err)
			return f, nil // the study asks for the breaking point
		}
		f.Simulations = append(f.Simulations, x)
		console.Say("%d workers: %.0f of %.0f writes/s, %.0f messages/s out, announced within %.3f s (p99), %d failed, %d leases lost", n, x.Writes, x.Wanted, x.Out, x.P99, x.Failed, x.Lost)
	}
	return f, nil
}

// simulation measures n workers and the flags' streams on new servers.
func (c *Command) simulation(ctx context.Context, n int) (x simulation, err error) {
	own := *c
	own.Streams = 0
	l, err := newLab(ctx, &own)
	if err != nil {
		return x, err
	}
	defer l.close()
	x = simulation{Workers: n, Streams: c.Streams, Wanted: float64(n+c.Streams) * 3 / c.TTL.Seconds()}
	all := make([]*extra, n)
	defer func() {
		for _, e := range all {
			e.close()
		}
	}()
	for i := range all {
		if all[i], err = l.newExtra(ctx, i); err != nil {
			return x, err
		}
	}
	running, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	for i, e := range all {
		work.Go(func() { e.announce(running, c.TTL/3) })
		for s := i; s < c.Streams; s += n {
			work.Go(func() { e.hold(running, fmt.Sprint("bead", s)) })
		}
	}
	pause(ctx, 2*c.TTL) // a lease without a known holder is free after one TTL
	return x, l.count(ctx, &x, all)
}

// count measures a running simulation.
func (l *lab) count(ctx context.Context, x *simulation, all []*extra) error {
	for _, e := range all {
		e.reset()
	}
	before, _, err := l.written(ctx)
	if err != nil {
		return err
	}
	sent, err := trafficOf(ctx, l.servers)
	if err != nil {
		return err
	}
	began := time.Now()
	pause(ctx, simulationTime)
	x.Seconds = time.Since(began).Seconds()
	now, err := trafficOf(ctx, l.servers)
	if err != nil {
		return err
	}
	after, _, err := l.written(ctx)
	if err != nil {
		return err
	}
	for _, what := range buckets {
		x.Writes += float64(after[what]-before[what]) / x.Seconds
	}
	x.In, x.Out, x.OutBytes = float64(now.Messages-sent.Messages)/x.Seconds, float64(now.Out-sent.Out)/x.Seconds, float64(now.OutBytes-sent.OutBytes)/x.Seconds
	var took []float64
	for _, e := range all {
		e.mu.Lock()
		took = append(took, e.took...)
		e.mu.Unlock()
		x.Failed += e.failed.Load()
		x.Lost += e.lost.Load()
	}
	slices.Sort(took)
	if len(took) > 0 {
		x.P50, x.P99 = took[len(took)/2], took[len(took)*99/100]
	}
	s := all[0].site.Now()
	x.Seen, x.Plan, x.Consumer = len(s.Workers), planned(x.Workers, x.Streams), 3*x.Workers
	return ctx.Err()
}

// planned returns the time of one plan of this size.
func planned(workers, streams int) float64 {
	s := site.Snapshot{Workers: make([]site.Worker, workers), Streams: make([]site.Stream, streams), Leases: make([]site.Lease, streams)}
	for i := range s.Workers {
		s.Workers[i] = site.Worker{Name: fmt.Sprint("w", i), Cores: 8}
	}
	for i := range s.Streams {
		name := fmt.Sprint("bead", i)
		s.Streams[i] = site.Stream{Name: name, Cores: 1}
		s.Leases[i] = site.Lease{Stream: name, State: site.Taken, Record: site.Record{Worker: fmt.Sprint("w", i%workers)}}
	}
	began := time.Now()
	s.Plan()
	return time.Since(began).Seconds()
}

// extra is one simulated worker.
type extra struct {
	name   string
	conn   *bus.Conn
	site   *site.Site
	failed atomic.Uint64
	lost   atomic.Uint64

	mu   sync.Mutex
	took []float64
}

// newExtra connects one, as a worker does.
func (l *lab) newExtra(ctx context.Context, i int) (e *extra, err error) {
	e = &extra{name: fmt.Sprint("w", i)}
	if e.conn, err = bus.Connect(ctx, bus.Options{URL: addresses(l.servers), Name: "bench cluster " + e.name, Site: siteName}); err != nil {
		return e, err
	}
	e.site, err = site.Open(ctx, e.conn, site.Options{Replicas: l.c.Replicas, TTL: l.c.TTL, Worker: e.name, Version: "bench"})
	return e, err
}

// announce announces the worker until ctx ends.
func (e *extra) announce(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		began := time.Now()
		trying, done := context.WithTimeout(ctx, every)
		err := e.site.Announce(trying, site.Worker{Cores: 8, Since: began.UTC()})
		done()
		switch {
		case ctx.Err() != nil:
		case err != nil:
			e.failed.Add(1)
		default:
			e.mu.Lock()
			e.took = append(e.took, time.Since(began).Seconds())
			e.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// hold holds a stream's lease until ctx ends, and takes a lost lease again.
func (e *extra) hold(ctx context.Context, stream string) {
	for ctx.Err() == nil {
		h, err := e.site.Held().Await(ctx, stream, 0)
		if errors.Is(err, site.ErrClosed) || ctx.Err() != nil {
			return
		}
		if err != nil {
			pause(ctx, time.Second)
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-h.Lost():
			e.lost.Add(1)
		}
	}
}

// reset clears the counts.
func (e *extra) reset() {
	e.mu.Lock()
	e.took = nil
	e.mu.Unlock()
	e.failed.Store(0)
	e.lost.Store(0)
}

func (e *extra) close() {
	if e == nil {
		return
	}
	if e.site != nil {
		e.site.Close()
	}
	if e.conn != nil {
		e.conn.Close()
	}
}

func (f *simulations) print(w io.Writer) {
	fmt.Fprintf(w, "%d servers, %d streams, TTL %g s, %d cores\n\n", f.origin.Servers, f.Streams, f.TTL, f.Cores)
	fmt.Fprintln(w, "| workers | writes/s wanted | writes/s | messages/s out | MB/s out | announced p50, s | p99, s | failed | leases lost | seen | one plan, s |\n|---|---|---|---|---|---|---|---|---|---|---|")
	for _, x := range f.Simulations {
		fmt.Fprintf(w, "| %d | %.0f | %.0f | %.0f | %.1f | %.3f | %.3f | %d | %d | %d | %.4f |\n", x.Workers, x.Wanted, x.Writes, x.Out, x.OutBytes/1e6, x.P50, x.P99, x.Failed, x.Lost, x.Seen, x.Plan)
	}
	if f.Problem != "" {
		fmt.Fprintln(w, "\n"+f.Problem)
	}
}
