package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/cmd/driftlab/internal/bench"
	"driftscope/internal/flow/bus"
	"driftscope/internal/kit/console"
	"driftscope/internal/site"
	"driftscope/internal/suite"
)

const (
	siteName = "bench"
	settling = 3 * time.Minute // time for servers, streams and records to settle on a busy machine
)

// lab holds servers, workers, a film and the records of results.
type lab struct {
	c          *Command
	folder     string
	driftscope string // the program
	servers    []*machine
	ports      suite.ReservedPorts // the servers'
	workers    []*worker
	twins      int // workers started under a name in use
	streams    []string
	conn       *bus.Conn
	js         jetstream.JetStream
	site       *site.Site
	film       *film
	books      map[string]*book
	holders    holders

	stop context.CancelFunc
	work sync.WaitGroup
}

// staffed returns a lab with the given number of workers.
func staffed(ctx context.Context, c *Command, workers int) (*lab, error) {
	l, err := newLab(ctx, c)
	if err != nil {
		return nil, err
	}
	for range workers {
		if _, err := l.newWorker(); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

// newLab starts the servers and requests the streams.
func newLab(ctx context.Context, c *Command) (l *lab, err error) {
	l = &lab{c: c, folder: c.Folder, books: map[string]*book{}, holders: holders{by: map[tenant]holding{}}}
	if l.driftscope, err = bench.Driftscope(c.Driftscope); err != nil {
		return nil, console.Usage(err)
	}
	if l.folder == "" {
		if l.folder, err = os.MkdirTemp("", "driftscope-cluster-"); err != nil {
			return nil, err
		}
	}
	var following context.Context
	following, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	if err = l.begin(ctx, following); err != nil {
		l.close()
		return nil, fmt.Errorf("%w (logs are in %s)", err, l.folder)
	}
	return l, nil
}

// begin sets up l; on error l is partly set up.
func (l *lab) begin(ctx, following context.Context) (err error) {
	if l.servers, err = newServers(l.folder, max(l.c.Replicas, 1), &l.ports); err != nil {
		return err
	}
	if err = healthy(ctx, l.servers); err != nil {
		return err
	}
	if l.conn, err = bus.Connect(ctx, bus.Options{URL: addresses(l.servers), Name: "bench cluster", Site: siteName, Patience: settling}); err != nil {
		return err
	}
	if l.js, err = jetstream.New(l.conn.NATS()); err != nil {
		return err
	}
	for end := time.Now().Add(settling); ; pause(ctx, 200*time.Millisecond) { // the cluster elects a leader a second or two after its servers are healthy
		if l.site, err = site.Open(ctx, l.conn, site.Options{Replicas: l.c.Replicas, TTL: l.c.TTL}); err == nil || time.Now().After(end) || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		return err
	}
	if _, err = l.conn.NATS().Subscribe(bus.DefaultPrefix+"."+siteName+".*.worker", l.holders.hear); err != nil {
		return err
	}
	l.work.Go(func() { l.watch(following) })
	for i := range l.c.Streams {
		l.streams = append(l.streams, fmt.Sprintf("bead%02d", i))
	}
	if len(l.streams) == 0 {
		return nil
	}
	if l.film, err = newFilm(ctx, l); err != nil {
		return err
	}
	for _, name := range l.streams {
		b := &book{stream: name}
		if b.subject, err = l.conn.Subject(name); err != nil {
			return err
		}
		l.books[name] = b
		if err = l.desire(ctx, name); err != nil {
			return err
		}
		l.work.Go(func() { b.follow(following, l.js) })
	}
	return nil
}

// desire requests a stream, with retries while the cluster elects leaders.
func (l *lab) desire(ctx context.Context, name string) (err error) {
	for end := time.Now().Add(settling); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 200*time.Millisecond) {
		if _, err = l.site.Add(ctx, site.Stream{Name: name, Config: l.configuration(name), Cores: 1}); err == nil || errors.Is(err, site.ErrExists) {
			return nil
		}
	}
	return err
}

// configuration returns a stream's configuration, the same for workers and the unbroken run.
func (l *lab) configuration(name string) string {
	return fmt.Sprintf("stream: %s\nsource: {nats: {subject: %s}}\nframes: {durable: true, replicas: %d}\nmodel: embedded:molecule\nonline: {checkpoint_every: %v, seed: 1}\n",
		name, subject(name), l.c.Replicas, l.c.TTL)
}

// watch reads the leases until ctx ends.
func (l *lab) watch(ctx context.Context) {
	for ctx.Err() == nil {
		changed := l.site.Held().Changed()
		l.holders.look(l.site.Leases())
		select {
		case <-ctx.Done():
		case <-changed:
		}
		pause(ctx, 20*time.Millisecond)
	}
}

// running returns the lease holder of each stream.
func (l *lab) running() map[string]string {
	all := map[string]string{}
	for _, x := range l.site.Leases() {
		if x.State == site.Taken {
			all[x.Stream] = x.Record.Worker
		}
	}
	return all
}

// unsettled says why the site is not settled, or returns "" if every stream runs where planned and gives results.
func (l *lab) unsettled() string {
	s := l.site.Now()
	plan, is := s.Plan(), l.running()
	var there int
	for _, w := range l.workers {
		if !w.gone() {
			there++
		}
	}
	if len(s.Workers) != there {
		return fmt.Sprintf("%d workers are seen, expected %d", len(s.Workers), there)
	}
	frames := uint64(0)
	if l.film != nil {
		frames = l.film.frames.Load()
	}
	for _, name := range l.streams {
		switch at := l.books[name].stand(); {
		case is[name] == "":
			return fmt.Sprintf("no worker holds stream %s", name)
		case plan.Places[name] != is[name]:
			return fmt.Sprintf("stream %s is on %s, the plan has it on %s", name, is[name], plan.Places[name])
		case at.next+uint64(max(3*l.c.FPS, 3)) < frames:
			return fmt.Sprintf("stream %s is at frame %d of %d", name, at.next, frames)
		}
	}
	return ""
}

// settle waits until the site has been settled for a while.
func (l *lab) settle(ctx context.Context) error {
	const rest = 2 * time.Second
	since, why := time.Now(), ""
	for end := time.Now().Add(settling); ; pause(ctx, 100*time.Millisecond) {
		if now := l.unsettled(); now != "" {
			since, why = time.Now(), now
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(since) > rest:
			return nil
		case time.Now().After(end):
			return fmt.Errorf("the site did not come to rest within %v: %s", settling, why)
		}
	}
}

// moves returns how often streams changed their worker.
func (l *lab) moves() (n int) {
	for _, b := range l.books {
		n += b.stand().moves
	}
	return n
}

// complete waits until every stream has a result of every frame.
func (l *lab) complete(ctx context.Context) error {
	if err := l.film.finish(ctx); err != nil {
		return err
	}
	return l.read(ctx)
}

// read waits until every result of the film is read.
func (l *lab) read(ctx context.Context) error {
	frames := l.film.frames.Load()
	for end := time.Now().Add(settling); ; pause(ctx, 100*time.Millisecond) {
		var late []string
		for _, name := range l.streams {
			if next := l.books[name].stand().next; next < frames {
				late = append(late, fmt.Sprintf("%s is at frame %d of %d", name, next, frames))
			}
		}
		if len(late) == 0 {
			return nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return errors.New("not all results came: " + strings.Join(late, ", "))
		}
	}
}

// readAgain reads everything stored with new consumers. It reveals results that were seen once and lost afterwards.
func (l *lab) readAgain(ctx context.Context) (again map[string]*book, err error) {
	ctx, done := context.WithTimeout(ctx, settling)
	defer done()
	reading, stop := context.WithCancel(ctx)
	var work sync.WaitGroup
	defer work.Wait()
	defer stop()
	again = map[string]*book{}
	for name, b := range l.books {
		x := &book{stream: name + ", read again", subject: b.subject}
		again[name] = x
		work.Go(func() { x.follow(reading, l.js) })
	}
	for name, b := range l.books {
		for again[name].at() < b.at() {
			if pause(ctx, 20*time.Millisecond); ctx.Err() != nil {
				return again, fmt.Errorf("stream %s: message %d is not there any more", name, b.at())
			}
		}
	}
	return again, nil
}

// close ends everything, and removes its own temporary folder unless something failed.
func (l *lab) close() {
	for _, w := range l.workers {
		w.kill()
	}
	l.stop()
	if l.film != nil {
		l.film.close()
	}
	l.work.Wait()
	if l.site != nil {
		l.site.Close()
	}
	if l.conn != nil {
		l.conn.Close()
	}
	for _, w := range l.workers {
		w.way.Close()
	}
	for _, m := range l.servers {
		m.kill()
		for _, r := range m.routes {
			r.Close()
		}
	}
	l.ports.Close()
	if l.c.Folder == "" {
		os.RemoveAll(l.folder)
	}
}
