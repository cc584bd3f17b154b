package jobtest

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/ingest"
	"driftscope/ingest/natsource"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/sinks/message"
)

// KeptFilm publishes frames of the simulated molecule. The server stores them.
type KeptFilm struct {
	Conn   *bus.Conn
	t      testing.TB
	to     *natsource.DurablePublisher
	source pipeline.Source
}

// NewKeptFilm creates a film on a subject of a server. It ends with the test.
func NewKeptFilm(t testing.TB, at, subject string, replicas int) *KeptFilm {
	t.Helper()
	f := &KeptFilm{t: t}
	var err error
	if f.Conn, err = bus.Connect(t.Context(), bus.Options{URL: at, Patience: natsource.FramePatience}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Conn.Close() })
	keep := natsource.Kept()
	keep.MaxBytes, keep.Replicas = 1<<30, replicas
	if f.to, err = natsource.NewDurablePublisher(t.Context(), f.Conn, natsource.Durably{Subject: subject, Keep: keep}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.to.Close)
	component, err := config.NewComponent("sim", map[string]any{"name": "molecule", "seed": 3, "realtime": false})
	if err == nil {
		f.source, err = ingest.New(component.Kind, component.Decode)
	}
	if err == nil {
		err = f.source.Open(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.source.Close() })
	return f
}

// Next publishes n frames, and returns when the server has stored them.
func (f *KeptFilm) Next(n int) {
	f.t.Helper()
	for range n {
		frame, err := f.source.Read(f.t.Context())
		if err != nil {
			f.t.Fatal(err)
		}
		err = f.to.Publish(f.t.Context(), frame, true)
		frame.Close()
		if err != nil {
			f.t.Fatal(err)
		}
	}
	if left := f.to.Finish(f.t.Context()); left != 0 {
		f.t.Fatalf("%d messages were not confirmed", left)
	}
}

// Kept returns the stored records of one kind of a stream, in order.
func Kept[R message.Record](t testing.TB, conn *bus.Conn, stream string, kind latent.Kind) (all []R) {
	t.Helper()
	subject, err := conn.Subject(stream)
	if err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.New(conn.NATS())
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(t.Context(), subject.Name(), jetstream.OrderedConsumerConfig{FilterSubjects: []string{subject.Of("kept." + string(kind))}})
	if err != nil {
		return nil // nothing is stored yet
	}
	info, err := consumer.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range info.NumPending {
		m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			t.Fatal(err)
		}
		r, err := message.Decode(kind, m.Data())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.(R))
	}
	return all
}

// Results waits until n latents of a stream are stored, and returns them.
func Results(t testing.TB, conn *bus.Conn, stream string, n int) []*message.LatentRecord {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		all := Kept[*message.LatentRecord](t, conn, stream, latent.KindLatent)
		if len(all) >= n {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("%d latents of %s are kept, expected %d", len(all), stream, n)
		}
	}
}

// Once checks the results of n frames: each frame occurs once, in order, none is lost, and epochs never decrease.
func Once(t testing.TB, stream string, all []*message.LatentRecord, n int) {
	t.Helper()
	epoch := uint64(0)
	for i, r := range all {
		if r.Seq != uint64(i) || r.Dropped != 0 {
			t.Fatalf("result %d of %s is of frame %d, with %d lost before it", i, stream, r.Seq, r.Dropped)
		}
		if r.Epoch < epoch {
			t.Fatalf("frame %d of %s has epoch %d after %d", r.Seq, stream, r.Epoch, epoch)
		}
		epoch = r.Epoch
	}
	if len(all) != n {
		t.Errorf("%d results of %s, expected %d", len(all), stream, n)
	}
}
