package natsink

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// TestObjectsKept: a field's frames, tracks and populations are stored once and in order while the server is killed and restarted. The server's message limit
// is too small for all objects. Write reports the omitted objects, and the message contains their number, live and stored.
func TestObjectsKept(t *testing.T) {
	t.Parallel()
	const most, objects = 16384, 200
	server := bustest.Start(t, fmt.Sprintf("max_payload: %d\njetstream {store_dir: %q}", most, t.TempDir()))
	s, _ := newDurableSink(t, server.URL(), t.TempDir(), nil)
	frames := uint64(0)
	for _, begin := range []func(){func() {}, server.Kill, server.Run} {
		begin()
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); frames++ {
			var cut latent.CutShort
			if err := s.Write(t.Context(), sinktest.Crowd(frames, objects)); !errors.As(err, &cut) || cut.Places == 0 || cut.Bytes != most {
				t.Fatalf("frame %d: %v", frames, err)
			}
			for _, m := range []latent.Message{sinktest.Track(frames), sinktest.Population(frames)} {
				if err := s.Write(t.Context(), m); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	suite.Until(t, func() bool { return s.durable.spool.Empty() }, func() string { return fmt.Sprintf("not all is confirmed: %+v", s.durable.kept()) })
	sinktest.Close(t, s)
	js, err := jetstream.New(dial(t, server.URL()))
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(t.Context(), "driftscope_local_bead", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * frames {
		m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			t.Fatal(err)
		}
		kind := latent.Kind(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:])
		record, err := message.Decode(kind, m.Data())
		if err != nil {
			t.Fatal(err)
		}
		switch seq := i / 3; r := record.(type) {
		case *message.ObjectsRecord:
			if r.Seq != seq || i%3 != 0 || len(r.ID) == 0 || r.Unsent == 0 {
				t.Fatalf("message %d: frame %d with %d objects, %d left out", i, r.Seq, len(r.ID), r.Unsent)
			}
		case *message.TrackRecord:
			if r.Seq != seq || i%3 != 1 {
				t.Fatalf("message %d: a track of frame %d", i, r.Seq)
			}
		case *message.PopulationRecord:
			if r.Seq != seq || i%3 != 2 {
				t.Fatalf("message %d: the population of frame %d", i, r.Seq)
			}
		}
	}
	if info, err := consumer.Info(t.Context()); err != nil || info.NumPending != 0 {
		t.Errorf("%d messages too many, %v", info.NumPending, err)
	}
}
