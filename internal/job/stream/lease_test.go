package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/jobtest"
	"driftscope/sinks/message"
	"driftscope/sinks/natsink"
)

// grant is a lease that a test ends.
type grant struct {
	epoch uint64
	over  atomic.Bool
}

func (g *grant) Epoch() uint64 { return g.epoch }
func (g *grant) Valid() bool   { return !g.over.Load() }

// desired is the stream that workers run. A checkpoint is written only when a worker ends, because the interval is the longest allowed, an hour.
func desired(t *testing.T, at string) config.Config {
	t.Helper()
	cfg, err := config.Parse("bead", fmt.Appendf(nil, `
stream: bead
source: {nats: {subject: camera.bead, url: %q}}
frames: {durable: true}
model: embedded:molecule
online: {checkpoint_every: 1h}
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

// keptFrames returns the number of frames in the newest stored law.
func keptFrames(t *testing.T, at string) uint64 {
	t.Helper()
	m, err := LoadModel(t.Context(), desired(t, at), nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := bus.Connect(t.Context(), bus.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	bucket, err := natsink.OpenBucket(conn, natsink.BucketOptions{Stream: "bead", Replicas: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	law, err := bucket.State(m.Net.Digest, natsink.AnyFrames)
	if err != nil {
		t.Fatal(err)
	}
	return law.At.Frames
}

// TestLeased: a second worker follows one whose lease has ended, and hands over to a third. Every frame has one result, in order, and the law includes all
// frames.
func TestLeased(t *testing.T) {
	at := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}\nmax_payload: 8MB", t.TempDir())).URL()
	f := jobtest.NewKeptFilm(t, at, "camera.bead", 1)
	f.Next(200)

	stop := works(t, at, &grant{epoch: 10}, "")
	f.Next(100)
	jobtest.Results(t, f.Conn, "bead", 300)
	if err := stop(); err != nil {
		t.Errorf("the worker before all others ended with %v", err)
	}
	first := &grant{epoch: 11}
	stop = works(t, at, first, "")
	f.Next(50) // frames after the checkpoint
	jobtest.Results(t, f.Conn, "bead", 350)
	first.over.Store(true)
	f.Next(20)
	if err := stop(); !Fenced(err) {
		t.Errorf("the first worker ended with %v", err)
	}

	second := works(t, at, &grant{epoch: 17}, "hall-1")
	f.Next(130)
	jobtest.Results(t, f.Conn, "bead", 500)
	if err := second(); err != nil {
		t.Errorf("the second worker ended with %v", err)
	}
	if err := works(t, at, &grant{epoch: 19}, "hall-2")(); err != nil { // this worker gets no frame
		t.Errorf("a worker that tracks nothing ended with %v", err)
	}
	if frames := keptFrames(t, at); frames != 500 {
		t.Errorf("after a worker that tracked nothing the law is said to know %d frames, expected 500", frames)
	}
	third := works(t, at, &grant{epoch: 20}, "hall-2")
	f.Next(50)
	all := jobtest.Results(t, f.Conn, "bead", 550)
	if err := third(); err != nil {
		t.Errorf("the third worker ended with %v", err)
	}

	jobtest.Once(t, "bead", all, 550)
	if got := []uint64{all[349].Epoch, all[350].Epoch, all[499].Epoch, all[500].Epoch}; fmt.Sprint(got) != "[11 17 17 20]" {
		t.Errorf("epochs around the changes of worker are %v", got)
	}
	var said []string
	for _, e := range jobtest.Kept[*message.EventRecord](t, f.Conn, "bead", latent.KindEvent) {
		said = append(said, e.Code+": "+e.Text)
	}
	for _, want := range []string{
		"taken_over: the stream is taken over from hall-1, at epoch 17: the law learns frames ", " again, results continue at frame 350",
		"taken_over: the stream is taken over from hall-2, at epoch 20: it continues at frame 500",
	} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("events %q, expected %q", said, want)
		}
	}
	laws := jobtest.Kept[*message.SDERecord](t, f.Conn, "bead", latent.KindSDE)
	if last := laws[len(laws)-1]; last.Transitions < 530 { // every change of worker loses two increments, and the first frames have none
		t.Errorf("the law rests on %d increments of 550 frames", last.Transitions)
	}
}
