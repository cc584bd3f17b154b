package lease

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"driftscope/internal/flow/bus"
)

func TestMain(m *testing.M) {
	if isWorker() {
		return
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/nats-io/nats.go/jetstream.(*jetStream).resetPendingAcksOnReconnect"))
}

// slack is what a busy machine may add to a second.
const slack = 3 * time.Second

// embedded is JetStream on a server in this process.
func embedded(t testing.TB) (jetstream.JetStream, *bus.Conn) {
	t.Helper()
	return at(t, bus.Options{URL: bus.Embedded, Store: t.TempDir()})
}

func at(t testing.TB, o bus.Options) (jetstream.JetStream, *bus.Conn) {
	t.Helper()
	c, err := bus.Connect(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	js, err := jetstream.New(c.NATS())
	if err != nil {
		t.Fatal(err)
	}
	return js, c
}

// worker opens the leases of a TTL of a second as the worker called name.
func worker(t testing.TB, js jetstream.JetStream, name string, change ...func(*Options)) *Bucket {
	t.Helper()
	o := Options{Bucket: "leases", Worker: name, TTL: time.Second, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}
	for _, c := range change {
		c(&o)
	}
	b, err := Open(t.Context(), js, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// soon is a context for what takes some TTLs.
func soon(t testing.TB) context.Context {
	ctx, done := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(done)
	return ctx
}

func awaited(t testing.TB, b *Bucket, stream string, after uint64) *Held {
	t.Helper()
	h, err := b.Await(soon(t), stream, after)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func bucketOf(t testing.TB, js jetstream.JetStream) jetstream.KeyValue {
	t.Helper()
	kv, err := js.KeyValue(t.Context(), "leases")
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

func put(t testing.TB, js jetstream.JetStream, key string, value []byte) {
	t.Helper()
	if _, err := bucketOf(t, js).Put(t.Context(), key, value); err != nil {
		t.Fatal(err)
	}
}

func eventually(t testing.TB, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it has not come to be so within 10 s")
		}
	}
}

// BenchmarkValid is what a publisher pays for every message.
func BenchmarkValid(b *testing.B) {
	js, _ := embedded(b)
	h, err := worker(b, js, "a").Await(soon(b), "bead", 0)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !h.Valid() {
			b.Fatal(h.Err())
		}
	}
}
