package site

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
)

// makeWait is how long the server may take to make one resource. A cluster first chooses servers for it.
const makeWait = 15 * time.Second

// ErrResources reports invalid settings of a site.
var ErrResources = errors.New("invalid settings of a site")

// Resources selects the resources that Make makes.
type Resources struct {
	Replicas int           // of each resource
	TTL      time.Duration // of leases
	Cameras  []string      // cameras that publish on camera.NAME; Make also makes the results stream of NAME
	Streams  []string      // streams whose results are stored
}

// Made is one stream, bucket or object store of a site.
type Made struct {
	Name, Holds string
	New         bool     // it was missing
	Differs     []string // differences from the plan; an existing resource is not changed
}

// check refuses contradictory options.
func (p *Resources) check() error {
	if p.Replicas < 1 || p.Replicas > 5 {
		return fmt.Errorf("%w: replicas: found %d, expected 1 to 5", ErrResources, p.Replicas)
	}
	if p.TTL < LeastTTL || p.TTL > MostTTL {
		return fmt.Errorf("%w: ttl: found %v, expected %v to %v", ErrResources, p.TTL, LeastTTL, MostTTL)
	}
	for _, name := range slices.Concat(p.Cameras, p.Streams) {
		if !token(name) {
			return fmt.Errorf("%w: found %.70q, expected a name of 1 to %d letters, digits, - or _", ErrResources, name, mostName)
		}
	}
	return nil
}

// Make makes every missing resource of a site: its buckets, the streams of p, and the resources of the desired streams. It changes no existing
// resource. left names the records for which Make could not make everything.
func Make(ctx context.Context, conn *bus.Conn, p Resources) (made []Made, left []string, err error) {
	if err := p.check(); err != nil {
		return nil, nil, err
	}
	js, names, err := of(conn)
	if err != nil {
		return nil, nil, err
	}
	n := p.Replicas
	all := append(buckets(names, p.TTL, n), names.Laws(n), names.ModelStore(n), names.Films(n), names.FilmRecords(n))
	if made, err = ensure(ctx, js, all); err != nil {
		return made, nil, err
	}
	of, left, err := p.streams(ctx, conn)
	if err != nil {
		return made, left, err
	}
	more, err := ensure(ctx, js, of)
	return append(made, more...), left, err
}

// buckets returns the buckets of the site's records.
func buckets(names bus.Subject, ttl time.Duration, replicas int) []bus.Resource {
	return []bus.Resource{bus.Leases(names.BucketOf("leases"), ttl, replicas), names.Workers(ttl, replicas), names.Desired(replicas)}
}

// ensure makes the missing resources.
func ensure(ctx context.Context, js jetstream.JetStream, all []bus.Resource) (made []Made, err error) {
	for i := range all {
		r := &all[i]
		asking, done := context.WithTimeout(ctx, makeWait)
		s, is, err := r.Ensure(asking, js)
		done()
		if errors.Is(err, bus.ErrForbidden) {
			return made, err
		}
		if err != nil {
			return made, fmt.Errorf("%s (%s): %w: check that the server has JetStream with enough room and that this user may use its API", r.Name(), r.Holds, err)
		}
		m := Made{Name: r.Name(), Holds: r.Holds, New: is}
		if !is {
			m.Differs = r.Differs(s.CachedInfo().Config)
		}
		made = append(made, m)
	}
	return made, nil
}

// streams lists the resources of the desired streams, by their configurations, and then the resources of p.
func (p *Resources) streams(ctx context.Context, conn *bus.Conn) (all []bus.Resource, left []string, err error) {
	s, err := Read(ctx, conn)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	now := s.Now()
	for _, bad := range now.Bad {
		left = append(left, fmt.Sprintf("%s in %s is not a valid record: %s", bad.Key, bad.Bucket, bad.Why))
	}
	seen := map[string]bool{}
	add := func(r bus.Resource) {
		if !seen[r.Name()] {
			seen[r.Name()] = true
			all = append(all, r)
		}
	}
	for _, d := range now.Streams {
		of, err := p.desired(conn, &d)
		if err != nil {
			left = append(left, fmt.Sprintf("stream %s: %v", d.Name, err))
		}
		for _, r := range of {
			add(r)
		}
	}
	plain := config.Default()
	for _, name := range slices.Concat(p.Cameras, p.Streams) {
		results, err := p.results(conn, name, plain.NATS)
		if err != nil {
			return nil, left, err
		}
		add(results)
	}
	for _, name := range p.Cameras {
		add(bus.Frames(bus.CameraSubject+name, plain.Frames.MaxAge, plain.Frames.MaxBytes, p.Replicas))
	}
	return all, left, nil
}

// results returns the JetStream stream for the results of a stream.
func (p *Resources) results(conn *bus.Conn, stream string, kept config.NATS) (bus.Resource, error) {
	names, err := conn.Subject(stream)
	if err != nil {
		return bus.Resource{}, err
	}
	return names.Results(kept.MaxAge, kept.MaxBytes, p.Replicas), nil
}

// desired lists the resources of one desired stream. An operator wrote its configuration, but an admin makes the resources. So desired refuses a frame
// subject that the program or the server uses.
func (p *Resources) desired(conn *bus.Conn, d *Stream) ([]bus.Resource, error) {
	cfg, err := config.Parse(d.Name+".yaml", []byte(d.Config))
	if err != nil {
		return nil, err
	}
	results, err := p.results(conn, d.Name, cfg.NATS)
	if err != nil || !cfg.Frames.Durable {
		return []bus.Resource{results}, err
	}
	options := cfg.Source.Options()
	subject, _ := options["subject"].(string)
	if _, elsewhere := options["url"]; elsewhere || subject == "" {
		return []bus.Resource{results}, nil
	}
	prefix, _, _ := strings.Cut(results.Stream.Subjects[0], ".")
	if strings.ContainsAny(subject, "$*>") || strings.HasPrefix(subject, "_") || strings.HasPrefix(subject, prefix+".") {
		return []bus.Resource{results}, fmt.Errorf("source.nats.subject: found %.80q, which the program or the server uses: frames have subjects such as camera.bead", subject)
	}
	return []bus.Resource{results, bus.Frames(subject, cfg.Frames.MaxAge, cfg.Frames.MaxBytes, max(cfg.Frames.Replicas, p.Replicas))}, nil
}
