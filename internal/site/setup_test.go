package site

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"driftscope/internal/flow/bus"
	"driftscope/internal/suite"
)

func TestMain(m *testing.M) {
	if isWorker() {
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}

// slack is the extra time allowed for a busy machine.
const slack = 3 * time.Second

func connect(t testing.TB, o bus.Options) *bus.Conn {
	t.Helper()
	c, err := bus.Connect(context.Background(), o)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// embedded starts a server in this process.
func embedded(t testing.TB) *bus.Conn {
	return connect(t, bus.Options{URL: bus.Embedded, Store: t.TempDir()})
}

func jetStream(t testing.TB, c *bus.Conn) jetstream.JetStream {
	t.Helper()
	js, err := jetstream.New(c.NATS())
	must(t, err)
	return js
}

// options returns options with a TTL of a second.
func options(t testing.TB, worker string, change ...func(*Options)) Options {
	o := Options{TTL: time.Second, Worker: worker, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, f := range change {
		f(&o)
	}
	return o
}

func opened(t testing.TB, c *bus.Conn, change ...func(*Options)) *Site {
	t.Helper()
	s, err := Open(t.Context(), c, options(t, "", change...))
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

// leases opens only the bucket of leases.
func leases(t testing.TB, js jetstream.JetStream, o Options, h how) (*Leases, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	b, err := openLeases(t.Context(), js, "leases", o, h)
	if err == nil {
		t.Cleanup(b.Close)
	}
	return b, err
}

// worker opens the leases as the worker called name.
func worker(t testing.TB, js jetstream.JetStream, name string, change ...func(*Options)) *Leases {
	t.Helper()
	b, err := leases(t, js, options(t, name, change...), writes)
	must(t, err)
	return b
}

func as(name string) func(*Options) { return func(o *Options) { o.Worker = name } }

func stream(name string) Stream {
	return Stream{Name: name, Cores: 1, Config: "stream: " + name + "\nsource: {sim: {name: molecule, seed: 1}}\n"}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func added(t testing.TB, s *Site, names ...string) {
	t.Helper()
	for _, n := range names {
		_, err := s.Add(t.Context(), stream(n))
		must(t, err)
	}
}

func awaited(t testing.TB, b *Leases, stream string, after uint64) *Held {
	t.Helper()
	h, err := b.Await(suite.Soon(t), stream, after)
	must(t, err)
	return h
}

func bucketOf(t testing.TB, js jetstream.JetStream) jetstream.KeyValue {
	t.Helper()
	kv, err := js.KeyValue(t.Context(), "leases")
	must(t, err)
	return kv
}

// bad returns the number of invalid lease entries.
func bad(b *Leases) uint64 { _, bad, _ := b.counted(); return bad }

// remade returns how often the bucket of leases was made again.
func remade(b *Leases) uint64 { _, _, remade := b.counted(); return remade }

// BenchmarkValid measures the check that a publisher makes for every message.
func BenchmarkValid(b *testing.B) {
	h := awaited(b, worker(b, jetStream(b, embedded(b)), "a"), "bead", 0)
	for b.Loop() {
		if !h.Valid() {
			b.Fatal(h.Err())
		}
	}
}
