package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"driftscope/internal/kit/console"
)

// comings is the result of bench cluster --study join.
type comings struct {
	origin
	audit
	Part     int     `json:"part"`         // final streams of the new worker
	First    float64 `json:"first_s"`      // from process start to its first result
	Joined   float64 `json:"joined_s"`     // until all its streams have a result
	JoinGap  float64 `json:"join_pause_s"` // longest pause of a stream meanwhile
	JoinMove int     `json:"join_moves"`
	Left     float64 `json:"left_s"`       // from Ctrl-C to the end of the process
	LeftGap  float64 `json:"left_pause_s"` // longest pause of a stream meanwhile
	LeftMove int     `json:"left_moves"`   // of its streams
	LeftPart int     `json:"left_part"`    // streams that it ran
	Others   int     `json:"others_moved"` // streams of other workers that moved when it left
	Twice    int     `json:"moved_twice"`  // streams that moved more than once when it left
	Problem  string  `json:"problem,omitempty"`
}

// join measures the arrival of a worker and the departure of another.
func (c *Command) join(ctx context.Context) (found, error) {
	l, err := staffed(ctx, c, c.Workers-1)
	if err != nil {
		return nil, err
	}
	defer l.close()
	f := &comings{origin: c.origin()}
	err = l.comeAndGo(ctx, f)
	if err == nil {
		err = l.complete(ctx)
	}
	f.audit = l.audit(l.film.frames.Load())
	if err == nil && (f.Lost > 0 || f.Doubled > 0) {
		err = fmt.Errorf("%d results are lost, %d doubled", f.Lost, f.Doubled)
	}
	if err != nil {
		f.Problem = err.Error()
	}
	return f, err
}

// stands returns snapshots of all books and restarts their longest pauses.
func (l *lab) stands() map[string]stand {
	all := map[string]stand{}
	for name, b := range l.books {
		b.mark()
		all[name] = b.stand()
	}
	return all
}

// comeAndGo starts the last worker and stops the first.
func (l *lab) comeAndGo(ctx context.Context, f *comings) error {
	if err := l.settle(ctx); err != nil {
		return err
	}
	before, began := l.stands(), time.Now()
	x, err := l.newWorker()
	if err != nil {
		return err
	}
	if err := l.settle(ctx); err != nil {
		return err
	}
	for name, holder := range l.running() {
		b := l.books[name]
		f.JoinGap = max(f.JoinGap, b.stand().longest.Seconds())
		f.JoinMove += b.stand().moves - before[name].moves
		at, moved := b.after(before[name].epoch)
		if holder != x.name || !moved {
			continue
		}
		after := at.Sub(began).Seconds()
		if f.Part++; f.First == 0 || after < f.First {
			f.First = after
		}
		f.Joined = max(f.Joined, after)
	}
	goes := l.workers[0]
	has := map[string]bool{}
	for name, holder := range l.running() {
		has[name] = holder == goes.name
	}
	before, began = l.stands(), time.Now()
	if err := goes.stop(ctx, settling); err != nil {
		return err
	}
	f.Left = time.Since(began).Seconds()
	if err := l.settle(ctx); err != nil {
		return err
	}
	for name, b := range l.books {
		now := b.stand()
		n := now.moves - before[name].moves
		f.LeftGap = max(f.LeftGap, now.longest.Seconds())
		switch {
		case has[name]:
			f.LeftPart++
			f.LeftMove += n
		case n > 0:
			f.Others++
		}
		if n > 1 {
			f.Twice++
		}
	}
	return nil
}

func (f *comings) print(w io.Writer) {
	fmt.Fprintf(w, "a worker joins %d others with %d streams: its first result after %.1f s, all %d streams of its part after %.1f s; %d moves, the longest pause %.1f s\n",
		f.Workers-1, f.Streams, f.First, f.Part, f.Joined, f.JoinMove, f.JoinGap)
	fmt.Fprintf(w, "one of them is ended: it took %.1f s; %d moves of its %d streams, %d streams of others moved, %d more than once; the longest pause %.1f s\n",
		f.Left, f.LeftMove, f.LeftPart, f.Others, f.Twice, f.LeftGap)
	fmt.Fprintf(w, "%d results: %d lost, %d doubled\n", f.Results, f.Lost, f.Doubled)
}

// calm is the result of bench cluster --study steady.
type calm struct {
	origin
	audit
	Seconds  float64            `json:"seconds"`
	Moved    int                `json:"moved"`            // without any event
	Writes   map[string]float64 `json:"kv_writes_s"`      // per bucket
	Bytes    map[string]float64 `json:"kv_bytes_s"`       // as stored, one replica
	Renewals float64            `json:"renewals_bytes_s"` // of the leases, per worker
	Clients  traffic            `json:"clients"`          // from clients to all servers meanwhile
	Problem  string             `json:"problem,omitempty"`
}

// steady measures a site without events.
func (c *Command) steady(ctx context.Context) (found, error) {
	l, err := staffed(ctx, c, c.Workers)
	if err != nil {
		return nil, err
	}
	defer l.close()
	f := &calm{origin: c.origin(), Writes: map[string]float64{}, Bytes: map[string]float64{}}
	err = l.rest(ctx, f)
	if err == nil {
		err = l.complete(ctx)
	}
	f.audit = l.audit(l.film.frames.Load())
	if err != nil {
		f.Problem = err.Error()
	}
	return f, err
}

// buckets of a site.
var buckets = []string{"leases", "workers", "streams"}

// rest waits and counts.
func (l *lab) rest(ctx context.Context, f *calm) error {
	if err := l.settle(ctx); err != nil {
		return err
	}
	moves, began := l.moves(), time.Now()
	sequences, _, err := l.written(ctx)
	if err != nil {
		return err
	}
	sent, err := trafficOf(ctx, l.servers)
	if err != nil {
		return err
	}
	for time.Since(began) < l.c.For && ctx.Err() == nil {
		pause(ctx, min(time.Minute, l.c.For-time.Since(began)))
		console.Say("%v: %d moves", time.Since(began).Round(time.Second), l.moves()-moves)
	}
	f.Seconds, f.Moved = time.Since(began).Seconds(), l.moves()-moves
	now, sizes, err := l.written(ctx)
	if err != nil {
		return err
	}
	for _, what := range buckets {
		f.Writes[what] = float64(now[what]-sequences[what]) / f.Seconds
		f.Bytes[what] = f.Writes[what] * sizes[what]
	}
	f.Renewals = f.Bytes["leases"] / float64(l.c.Workers)
	after, err := trafficOf(ctx, l.servers)
	f.Clients = traffic{after.Messages - sent.Messages, after.Bytes - sent.Bytes, after.Out - sent.Out, after.OutBytes - sent.OutBytes}
	return errors.Join(err, ctx.Err())
}

// written returns the last sequence of each bucket, and the bytes per message.
func (l *lab) written(ctx context.Context) (sequences map[string]uint64, sizes map[string]float64, err error) {
	sequences, sizes = map[string]uint64{}, map[string]float64{}
	names, err := l.conn.Subject("any")
	if err != nil {
		return nil, nil, err
	}
	for _, what := range buckets {
		s, err := l.js.Stream(ctx, "KV_"+names.BucketOf(what))
		if err != nil {
			return nil, nil, err
		}
		state := s.CachedInfo().State
		sequences[what] = state.LastSeq
		if state.Msgs > 0 {
			sizes[what] = float64(state.Bytes) / float64(state.Msgs)
		}
	}
	return sequences, sizes, nil
}

func (f *calm) print(w io.Writer) {
	fmt.Fprintf(w, "%d workers, %d streams, nothing happens for %.0f s: %d moves; %d results, %d lost, %d doubled\n\n", f.Workers, f.Streams, f.Seconds, f.Moved, f.Results, f.Lost, f.Doubled)
	fmt.Fprintln(w, "| bucket | writes/s | bytes/s |\n|---|---|---|")
	for _, what := range buckets {
		fmt.Fprintf(w, "| %s | %.2f | %.0f |\n", what, f.Writes[what], f.Bytes[what])
	}
	fmt.Fprintf(w, "\nrenewals of leases: %.0f bytes/s a worker\n", f.Renewals)
}

// growth is the result of bench cluster --study scale.
type growth struct {
	origin
	Frames int    `json:"frames"` // per stream
	Sizes  []size `json:"sizes"`
}

// size is the result for one number of workers.
type size struct {
	Workers int     `json:"workers"`
	Rate    float64 `json:"frames_s"` // all streams together
	Lost    uint64  `json:"lost"`
	Doubled uint64  `json:"doubled"`
}

// scaleFrames is the number of frames stored per stream before the workers start.
const scaleFrames = 500

// scale measures frames per second against workers, doubled from 1 to the maximum.
func (c *Command) scale(ctx context.Context) (found, error) {
	g := &growth{origin: c.origin(), Frames: scaleFrames}
	for n := 1; n <= c.Workers; n *= 2 {
		s, err := c.scaled(ctx, n)
		if err != nil {
			return g, err
		}
		g.Sizes = append(g.Sizes, s)
		console.Say("%d workers: %.0f frames/s", n, s.Rate)
	}
	return g, nil
}

// scaled measures n workers.
func (c *Command) scaled(ctx context.Context, n int) (s size, err error) {
	own := *c
	own.FPS = 100
	l, err := newLab(ctx, &own)
	if err != nil {
		return s, err
	}
	defer l.close()
	for l.film.frames.Load() < scaleFrames && ctx.Err() == nil {
		pause(ctx, 100*time.Millisecond)
	}
	if err := l.film.finish(ctx); err != nil {
		return s, err
	}
	for range n {
		if _, err := l.newWorker(); err != nil {
			return s, err
		}
	}
	if err := l.read(ctx); err != nil {
		return s, err
	}
	first, last := time.Time{}, time.Time{}
	for _, b := range l.books {
		b.mu.Lock()
		if at := b.tenures[0].at; first.IsZero() || at.Before(first) {
			first = at
		}
		if b.last.After(last) {
			last = b.last
		}
		b.mu.Unlock()
	}
	a := l.audit(l.film.frames.Load())
	return size{n, float64(a.Results) / last.Sub(first).Seconds(), a.Lost, a.Doubled}, nil
}

func (g *growth) print(w io.Writer) {
	fmt.Fprintf(w, "%d streams of %d frames that are kept, %d cores\n\n| workers | frames/s | lost | doubled |\n|---|---|---|---|\n", g.Streams, g.Frames, g.Cores)
	for _, s := range g.Sizes {
		fmt.Fprintf(w, "| %d | %.0f | %d | %d |\n", s.Workers, s.Rate, s.Lost, s.Doubled)
	}
}
