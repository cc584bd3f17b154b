package natsink

import (
	"bytes"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
	"driftscope/sinks/sinktest"
)

func dial(t *testing.T, at string) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(at, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // the test expects refusals
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestShippedUsers: with the shipped configuration the program stores results, laws and configurations, a reader reads them, and the user models provides
// models. TestRights covers the forbidden actions.
func TestShippedUsers(t *testing.T) {
	as := bustest.Shipped(t)
	s, _ := newDurableSink(t, as("driftscope"), t.TempDir(), nil)
	for i := range 20 {
		if err := s.Write(t.Context(), sinktest.Estimate(uint64(i), uint64(i/10)+1)); err != nil {
			t.Fatal(err)
		}
	}
	sinktest.Close(t, s)
	k := newBucket(t, as("driftscope"))
	if err := k.KeepState(law(1, 100_000), "model-a", At{}); err != nil {
		t.Fatal(err)
	}
	k.KeepConfiguration([]byte("stream: bead\n"))
	suite.Until(t, func() bool { return !k.waiting() })
	holds(t, as("driftscope"), "model-a", law(1, 100_000))
	reader := dial(t, as("reader"))
	inbox, err := reader.SubscribeSync(reader.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.PublishRequest("$JS.API.DIRECT.GET.driftscope_local_bead", inbox.Subject, []byte(`{"seq": 1, "batch": 100}`)); err != nil { // ADR-31 of NATS
		t.Fatal(err)
	}
	for i := range 23 { // 20 latents, a law for every ten, and the word that this was all
		m, err := inbox.NextMsg(5 * time.Second)
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if last := m.Header.Get("Status") == "204"; last != (i == 22) {
			t.Fatalf("message %d: found %v", i, m.Header)
		}
	}
	js, err := jetstream.New(reader)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "driftscope_local")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"bead.config", "bead.state"} {
		if entry, err := kv.Get(t.Context(), key); err != nil || len(entry.Value()) == 0 {
			t.Errorf("a reader reads %s: %v", key, err)
		}
	}
	large := bytes.Repeat([]byte("model"), 4<<20)
	for range 2 { // the second replaces the first
		if err := modelsOf(t, as("models")).Put(t.Context(), "spot", "", large); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{"models", "driftscope"} {
		got, err := modelsOf(t, as(user)).Get(t.Context(), "spot", int64(len(large)))
		if err != nil || !bytes.Equal(got, large) {
			t.Errorf("%s gets %d bytes of %d: %v", user, len(got), len(large), err)
		}
	}
	if kept, err := modelsOf(t, as("models")).List(t.Context()); err != nil || len(kept) != 1 || kept[0].Size != int64(len(large)) {
		t.Errorf("the user models lists %v, %v", kept, err)
	}
	if err := modelsOf(t, as("models")).Remove(t.Context(), "spot"); err != nil {
		t.Error(err)
	}
}

// modelsOf returns the model store of a server.
func modelsOf(t *testing.T, url string) *bus.Models {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	m, err := b.Models()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
