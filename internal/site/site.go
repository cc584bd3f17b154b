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
	"driftscope/internal/site/lease"
)

// What a site holds at most.
const (
	MostStreams = 10_000
	MostWorkers = 1_000
)

// Options say how a site is opened.
type Options struct {
	Replicas int           // of each bucket that is made; 1
	TTL      time.Duration // of leases, and of workers' records, which are renewed every third of it; lease.DefaultTTL
	Worker   string        // who claims leases and announces itself; empty for who does neither
	Version  string        // of the program
	Log      *slog.Logger  // nil is silent
}

// Site is the records of a site. It may be used from any goroutine.
type Site struct {
	js      jetstream.JetStream
	o       Options
	leases  *lease.Bucket
	streams *book[Stream]
	workers *book[Worker]
	looks   bool
	mine    announced
}

// ErrReadOnly is why what only looks changes nothing.
var ErrReadOnly = errors.New("the site was opened to be looked at")

// nobody is the name for leases of who claims none.
const nobody = "nobody"

// Open finds the buckets of the site that conn names, or makes them, and watches them until Close.
func Open(ctx context.Context, conn *bus.Conn, o Options) (*Site, error) {
	return open(ctx, conn, o, writes)
}

// Look is Open for those who may not write: nothing is made or changed.
func Look(ctx context.Context, conn *bus.Conn, o Options) (*Site, error) {
	return open(ctx, conn, o, watches)
}

// Read is Look once, for those who may have no consumer made: lease.Read. What it gives is what was there.
func Read(ctx context.Context, conn *bus.Conn) (*Site, error) {
	return open(ctx, conn, Options{}, reads)
}

// Edit is Read for those who change what should run. It makes missing buckets if this user may.
func Edit(ctx context.Context, conn *bus.Conn, o Options) (*Site, error) {
	names, err := conn.Subject("any")
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn.NATS())
	if err != nil {
		return nil, err
	}
	if _, err := ensure(ctx, js, buckets(names, cmp.Or(o.TTL, lease.DefaultTTL), o.Replicas)); err != nil {
		return nil, fmt.Errorf("%s: %w", conn.URL(), err)
	}
	return open(ctx, conn, o, edits)
}

// how a site is opened.
type how int

const (
	writes  how = iota
	watches     // and changes nothing
	reads       // once, and changes nothing
	edits       // reads once, and changes what should run
)

// leases opens them.
func (h how) leases(ctx context.Context, js jetstream.JetStream, o lease.Options) (*lease.Bucket, error) {
	switch h {
	case watches:
		return lease.Look(ctx, js, o)
	case reads, edits:
		return lease.Read(ctx, js, o)
	}
	return lease.Open(ctx, js, o)
}

func open(ctx context.Context, conn *bus.Conn, o Options, h how) (*Site, error) {
	names, err := conn.Subject("any")
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn.NATS())
	if err != nil {
		return nil, err
	}
	if o.Worker == "" {
		o.Worker = nobody
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Site{js: js, o: o, looks: h == watches || h == reads}
	s.leases, err = h.leases(ctx, js, lease.Options{Bucket: names.BucketOf("leases"), Worker: o.Worker, Version: o.Version, TTL: o.TTL, Replicas: o.Replicas, Log: o.Log})
	if errors.Is(err, lease.ErrNoBucket) {
		return nil, fmt.Errorf("%s: there is no such site yet: check --prefix and --site, or make it with driftscope site init: %w", conn.URL(), err)
	}
	if errors.Is(err, bus.ErrForbidden) {
		return nil, fmt.Errorf("%s: %w", conn.URL(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: JetStream must be enabled there, and this user may need its API and $KV.>", conn.URL(), err)
	}
	s.streams, err = openBook(ctx, &book[Stream]{js: js, is: names.Desired(o.Replicas), how: h, log: o.Log, most: MostStreams, decode: readStream, keeps: true})
	if err == nil {
		s.workers, err = openBook(ctx, &book[Worker]{js: js, is: names.Workers(s.leases.TTL(), o.Replicas), how: h, log: o.Log, most: MostWorkers, decode: readWorker})
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", conn.URL(), err)
	}
	return s, nil
}

// Held is the bucket of leases, for claiming.
func (s *Site) Held() *lease.Bucket { return s.leases }

// TTL is that of leases and of workers' records.
func (s *Site) TTL() time.Duration { return s.leases.TTL() }

// Close ends watching. Leases that are held are lost here; who wants others to have them at once releases them first.
func (s *Site) Close() {
	s.leases.Close()
	if s.streams != nil {
		s.streams.close()
	}
	if s.workers != nil {
		s.workers.close()
	}
}
