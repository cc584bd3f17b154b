package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/ingest"
	"driftscope/ingest/natsource"
	"driftscope/internal/bus"
	"driftscope/internal/bus/bustest"
	"driftscope/internal/config"
	"driftscope/internal/latent"
	"driftscope/sinks/message"
)

// grant is a lease that a test ends.
type grant struct {
	epoch uint64
	over  atomic.Bool
}

func (g *grant) Epoch() uint64 { return g.epoch }
func (g *grant) Valid() bool   { return !g.over.Load() }

// film publishes frames of the simulated molecule on camera.bead, kept.
type film struct {
	t    *testing.T
	conn *bus.Conn
	next func(ctx context.Context, n int)
}

// newFilm opens it on a server.
func newFilm(t *testing.T, at string) *film {
	t.Helper()
	conn, err := bus.Connect(t.Context(), bus.Options{URL: at, Patience: natsource.FramePatience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	to, err := natsource.NewDurablePublisher(t.Context(), conn, natsource.Durably{Subject: "camera.bead", Keep: natsource.Keep{MaxBytes: 1 << 30, MaxAge: time.Hour, Replicas: 1}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(to.Close)
	component, err := config.NewComponent("sim", map[string]any{"name": "molecule", "seed": 3, "realtime": false})
	if err != nil {
		t.Fatal(err)
	}
	source, err := ingest.New(component.Kind, component.Decode)
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return &film{t: t, conn: conn, next: func(ctx context.Context, n int) {
		t.Helper()
		for range n {
			f, err := source.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := to.Publish(ctx, f, true); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
		if left := to.Finish(ctx); left != 0 {
			t.Fatalf("%d messages were not confirmed", left)
		}
	}}
}

// kept are the records of a kind in what is kept of stream bead, in order.
func kept[R message.Record](t *testing.T, conn *bus.Conn, kind latent.Kind) (all []R) {
	t.Helper()
	js, err := jetstream.New(conn.NATS())
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(t.Context(), "driftscope_local_bead", jetstream.OrderedConsumerConfig{FilterSubjects: []string{"driftscope.local.bead.kept." + string(kind)}})
	if err != nil {
		t.Fatal(err)
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

// results waits until so many latents are kept.
func results(t *testing.T, conn *bus.Conn, n int) []*message.LatentRecord {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		all := kept[*message.LatentRecord](t, conn, latent.KindLatent)
		if len(all) >= n {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("%d latents are kept, expected %d", len(all), n)
		}
	}
}

// desired is the stream that workers run.
func desired(t *testing.T, at string) config.Config {
	t.Helper()
	cfg, err := config.Parse("bead", fmt.Appendf(nil, `
stream: bead
source: {nats: {subject: camera.bead, url: %q}}
frames: {durable: true}
model: embedded:molecule
online: {checkpoint_every: 1s}
nats: {url: %q, durable: true, store: %q}
dashboard: {address: off}
sinks: []
`, at, at, t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// works runs the stream under a lease until stop is called, which returns the run's error.
func works(t *testing.T, at string, lease *grant, before string) (stop func() error) {
	t.Helper()
	conn, err := bus.Connect(t.Context(), bus.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Leased(t.Context(), desired(t, at), conn, lease, before)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Run(ctx, 0)
		done <- err
	}()
	return func() error {
		t.Helper()
		cancel()
		err := <-done
		return errors.Join(err, conn.Close())
	}
}

// TestLeased: a worker whose lease is over is followed by another, and that by a third to which it hands over: every frame has one result, in order, and the
// law rests on all of them.
func TestLeased(t *testing.T) {
	at := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}\nmax_payload: 8MB", t.TempDir())).URL()
	f := newFilm(t, at)
	ctx := t.Context()
	f.next(ctx, 200)

	first := &grant{epoch: 11}
	stop := works(t, at, first, "")
	results(t, f.conn, 200)
	time.Sleep(1200 * time.Millisecond) // a checkpoint is due with the next frame
	f.next(ctx, 100)
	results(t, f.conn, 300)
	f.next(ctx, 50) // which the checkpoint does not know
	results(t, f.conn, 350)
	first.over.Store(true)
	f.next(ctx, 20)
	if err := stop(); !Fenced(err) {
		t.Errorf("the first worker ended with %v", err)
	}

	second := works(t, at, &grant{epoch: 17}, "hall-1")
	f.next(ctx, 130)
	results(t, f.conn, 500)
	if err := second(); err != nil {
		t.Errorf("the second worker ended with %v", err)
	}
	third := works(t, at, &grant{epoch: 20}, "hall-2")
	f.next(ctx, 50)
	all := results(t, f.conn, 550)
	if err := third(); err != nil {
		t.Errorf("the third worker ended with %v", err)
	}

	epoch := uint64(0)
	for i, r := range all {
		if r.Seq != uint64(i) || r.Dropped != 0 {
			t.Fatalf("result %d is of frame %d, with %d lost before it", i, r.Seq, r.Dropped)
		}
		if r.Epoch < epoch {
			t.Fatalf("frame %d has epoch %d after %d", r.Seq, r.Epoch, epoch)
		}
		epoch = r.Epoch
	}
	if got := []uint64{all[349].Epoch, all[350].Epoch, all[499].Epoch, all[500].Epoch}; fmt.Sprint(got) != "[11 17 17 20]" {
		t.Errorf("epochs around the changes of worker are %v", got)
	}
	var said []string
	for _, e := range kept[*message.EventRecord](t, f.conn, latent.KindEvent) {
		said = append(said, e.Code+": "+e.Text)
	}
	for _, want := range []string{
		"taken_over: the stream is taken over from hall-1, at epoch 17: frames ", " are folded into the law again, results go on at frame 350",
		"taken_over: the stream is taken over from hall-2, at epoch 20: it goes on at frame 500",
	} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("events %q, expected %q", said, want)
		}
	}
	laws := kept[*message.SDERecord](t, f.conn, latent.KindSDE)
	if last := laws[len(laws)-1]; last.Transitions < 530 { // two increments are lost at every change of worker, and the first frames have none
		t.Errorf("the law rests on %d increments of 550 frames", last.Transitions)
	}
}
