package site

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/store"
)

// Bounds of a site.
const (
	MostStreams = 10_000
	MostWorkers = 1_000
)

// Options configure how a site is opened.
type Options struct {
	Replicas int           // replicas of each new bucket; default 1
	TTL      time.Duration // TTL of leases and workers' records, which are renewed every third of it; default DefaultTTL. An existing bucket keeps its TTL
	Worker   string        // name under which this process claims leases and announces itself; empty if it does neither
	Version  string        // of the program, for display
	Log      *slog.Logger  // nil is silent

	clock func() time.Duration // for tests, a monotonic clock instead of the machine's
}

// check sets defaults and refuses contradictory options.
func (o *Options) check() error {
	o.TTL, o.Replicas, o.Worker = cmp.Or(o.TTL, DefaultTTL), cmp.Or(o.Replicas, 1), cmp.Or(o.Worker, nobody)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case !token(o.Worker):
		return fmt.Errorf("worker: found %.70q, expected 1 to %d letters, digits, - or _", o.Worker, mostName)
	case o.TTL < LeastTTL || o.TTL > MostTTL:
		return fmt.Errorf("ttl: found %v, expected %v to %v", o.TTL, LeastTTL, MostTTL)
	case o.Replicas < 1 || o.Replicas > 5:
		return fmt.Errorf("replicas: found %d, expected 1 to 5", o.Replicas)
	case len(o.Version) > mostName:
		return fmt.Errorf("version: found %d characters, expected at most %d", len(o.Version), mostName)
	}
	return nil
}

// Site is the records of a site. It may be used from any goroutine.
type Site struct {
	o       Options
	leases  *Leases
	streams *book[Stream]
	workers *book[Worker]
	looks   bool
	mine    announced
}

var (
	// ErrReadOnly refuses a change by a read-only caller.
	ErrReadOnly = errors.New("the site was opened for reading only")
	// ErrNone reports that there is no site, to callers that must not make one.
	ErrNone = errors.New("there is no such site yet: check --prefix and --site, or make it with driftscope site init")
)

// nobody is the worker name of a process that claims no lease.
const nobody = "nobody"

// Open finds the buckets of the site that conn names, or makes them, and follows them until Close.
func Open(ctx context.Context, conn *bus.Conn, o Options) (*Site, error) {
	return open(ctx, conn, o, writes)
}

// Read reads a site once, for users without the right to make a consumer. The site has the records of that moment and cannot be changed.
func Read(ctx context.Context, conn *bus.Conn) (*Site, error) {
	return open(ctx, conn, Options{}, reads)
}

// Edit is like Read, for callers that change the desired streams. It makes missing buckets if this user has the right to.
func Edit(ctx context.Context, conn *bus.Conn, o Options) (*Site, error) {
	js, names, err := of(conn)
	if err != nil {
		return nil, err
	}
	if _, err := ensure(ctx, js, buckets(names, cmp.Or(o.TTL, DefaultTTL), o.Replicas)); err != nil {
		return nil, fmt.Errorf("%s: %w", conn.URL(), err)
	}
	return open(ctx, conn, o, edits)
}

// of returns a connection's JetStream, and the names of its site.
func of(conn *bus.Conn) (jetstream.JetStream, bus.Subject, error) {
	names, err := conn.Subject("any")
	if err != nil {
		return nil, names, err
	}
	js, err := jetstream.New(conn.NATS())
	return js, names, err
}

// Modes of opening a site.
type how int

const (
	writes how = iota
	reads      // reads once, and changes nothing
	edits      // reads once, and changes the desired streams
)

// open reads a bucket once, or follows it in the mode writes.
func (h how) open(ctx context.Context, b *store.Bucket) error {
	if h == writes {
		return b.Follow(ctx)
	}
	return b.Read(ctx)
}

func open(ctx context.Context, conn *bus.Conn, o Options, h how) (*Site, error) {
	js, names, err := of(conn)
	if err == nil {
		err = o.check()
	}
	if err != nil {
		return nil, err
	}
	s := &Site{o: o, looks: h == reads}
	s.leases, err = openLeases(ctx, js, names.BucketOf("leases"), o, h)
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, fmt.Errorf("%s: %w", conn.URL(), ErrNone)
	case errors.Is(err, bus.ErrForbidden):
		return nil, fmt.Errorf("%s: %w", conn.URL(), err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: JetStream must be enabled there, and this user may need its API and $KV.>", conn.URL(), err)
	}
	s.streams = &book[Stream]{log: o.Log, most: MostStreams, decode: readStream, keeps: true}
	s.workers = &book[Worker]{log: o.Log, most: MostWorkers, decode: readWorker}
	if err = s.streams.open(ctx, js, names.Desired(o.Replicas), h); err == nil {
		err = s.workers.open(ctx, js, names.Workers(s.leases.TTL(), o.Replicas), h)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", conn.URL(), err)
	}
	return s, nil
}

// Held returns the bucket of leases, for claiming.
func (s *Site) Held() *Leases { return s.leases }

// TTL returns the TTL of leases and of workers' records.
func (s *Site) TTL() time.Duration { return s.leases.TTL() }

// Close ends watching. It loses the leases that are held; to free them at once, release them first.
func (s *Site) Close() {
	s.leases.Close()
	s.streams.close()
	s.workers.close()
}
