package natsink

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// onServers runs a test with the embedded server and with an external one.
func onServers(t *testing.T, test func(t *testing.T, b *bus.Conn, js jetstream.JetStream)) {
	for name, options := range map[string]func(t *testing.T) bus.Options{
		"embedded": func(t *testing.T) bus.Options {
			return bus.Options{URL: bus.Embedded, Store: filepath.Join(t.TempDir(), "server")}
		},
		"external": func(t *testing.T) bus.Options { return bus.Options{URL: keeper(t).URL()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := bus.Connect(t.Context(), options(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.Close() })
			js, err := jetstream.New(dial(t, b.URL()))
			if err != nil {
				t.Fatal(err)
			}
			test(t, b, js)
		})
	}
}

// TestBucketDeleted: a deleted bucket is created again with the next state and the configuration. This is counted and logged. If another client has already
// created it again, that bucket is used.
func TestBucketDeleted(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, b *bus.Conn, js jetstream.JetStream) {
		var log suite.Transcript
		k, err := OpenBucket(b, BucketOptions{Stream: "bead", Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(k.Close)
		k.KeepConfiguration([]byte("stream: bead\n"))
		shown := func() {
			t.Helper()
			suite.Until(t, func() bool { return !k.waiting() })
			if text, err := k.Configuration(); err != nil || string(text) != "stream: bead\n" {
				t.Errorf("the configuration is %q, %v", text, err)
			}
		}
		for seed := range uint64(3) {
			if err := k.KeepState(law(seed, 1000), "model-a", At{}); err != nil {
				t.Fatal(err)
			}
		}
		shown()
		for times := range uint64(2) {
			if err := js.DeleteKeyValue(t.Context(), "driftscope_local"); err != nil {
				t.Fatal(err)
			}
			if err := k.KeepState(law(10+times, 1000), "model-a", At{}); err != nil {
				t.Errorf("after the bucket was deleted: %v", err)
			}
			shown()
			holds(t, b.URL(), "model-a", law(10+times, 1000))
			if kept := k.kept(); kept.Remade != times+1 || kept.Failed != 0 || kept.Problem != "" || log.Count("the KV bucket was deleted") != int(times)+1 {
				t.Errorf("found %+v, told %d times, expected %d", kept, log.Count("the KV bucket was deleted"), times+1)
			}
		}
		if err := js.DeleteKeyValue(t.Context(), "driftscope_local"); err != nil {
			t.Fatal(err)
		}
		if _, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "driftscope_local", History: 1}); err != nil {
			t.Fatal(err)
		}
		if err := k.KeepState(law(20, 1000), "model-a", At{}); err != nil {
			t.Errorf("after the bucket was made again: %v", err)
		}
		shown()
		holds(t, b.URL(), "model-a", law(20, 1000))
		if kept := k.kept(); kept.Remade != 2 {
			t.Errorf("found %+v, expected two that were made here", kept)
		}
	})
}

// TestDurableDeleted: a deleted stream is created again, and stores all later messages once and in order. The loss of the earlier messages is counted and
// logged.
func TestDurableDeleted(t *testing.T) {
	t.Parallel()
	onServers(t, func(t *testing.T, b *bus.Conn, js jetstream.JetStream) {
		var log suite.Transcript
		made, err := New(sinktest.Decoder(t, durableOptions(t.TempDir())), Env{Stream: "bead", Bus: b, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		s := made
		write := func(n uint64) {
			t.Helper()
			for i := range n {
				if err := s.Write(t.Context(), sinktest.Estimate(i, i/10+1)); err != nil {
					t.Fatal(err)
				}
			}
			suite.Until(t, func() bool { return s.durable.spool.Empty() }, func() string { return fmt.Sprintf("not all is confirmed: %+v", s.durable.kept()) })
		}
		write(30)
		if kept := s.durable.kept(); kept.Remade != 0 {
			t.Errorf("found %+v before anything was deleted", kept)
		}
		if err := js.DeleteStream(t.Context(), "driftscope_local_bead"); err != nil {
			t.Fatal(err)
		}
		s.encoder.Resend(message.Sent{}) // as in a new run, so laws are counted from 1 again
		write(50)
		sinktest.Close(t, s)
		audit(t, b.URL(), 50)
		if kept := s.durable.kept(); kept.Remade != 1 || log.Count("the JetStream stream was deleted") != 1 {
			t.Errorf("found %+v, told %d times, expected 1", kept, log.Count("the JetStream stream was deleted"))
		}
	})
}

// TestFolderDeleted deletes the files of the embedded server under a run. Results and law are on the disk again by the next checkpoint, and both losses
// are counted and logged.
func TestFolderDeleted(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "server")
	b, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	var log suite.Transcript
	logger := slog.New(slog.NewTextHandler(&log, nil))
	k, err := OpenBucket(b, BucketOptions{Stream: "bead", Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(sinktest.Decoder(t, durableOptions(t.TempDir())), Env{Stream: "bead", Bus: b, Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	k.KeepConfiguration([]byte("stream: bead\n"))
	if err := k.KeepState(law(1, 1000), "model-a", At{}); err != nil {
		t.Fatal(err)
	}
	writes(t, s, 0, 30)
	delivers(t, s)
	if err := os.RemoveAll(filepath.Join(store, "jetstream")); err != nil {
		t.Fatal(err)
	}
	if err := k.KeepState(law(2, 1000), "model-a", At{}); err != nil {
		t.Errorf("the checkpoint after the loss: %v", err)
	}
	suite.Until(t, func() bool { return s.durable.kept().Remade != 0 }, func() string { return fmt.Sprintf("the stream is not made again: %+v", s.durable.kept()) })
	writes(t, s, 30, 60)
	delivers(t, s)
	sinktest.Close(t, s)
	suite.Until(t, func() bool { return !k.waiting() })
	k.Close()
	if kept := k.kept(); kept.Remade != 1 || kept.Failed != 0 || log.Count("the KV bucket was deleted") != 1 {
		t.Errorf("found %+v, expected one bucket made again", kept)
	}
	if kept := s.durable.kept(); kept.Remade != 1 || log.Count("the JetStream stream was deleted") != 1 {
		t.Errorf("found %+v, expected one stream made again", kept)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Store: store})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	holds(t, again.URL(), "model-a", law(2, 1000))
	auditFrom(t, again.URL(), 30, 60)
}

// TestDurableIntruder: messages of another client in the stream cost none of ours, and remain in the stream.
func TestDurableIntruder(t *testing.T) {
	t.Parallel()
	at := keeper(t).URL()
	s, _ := newDurableSink(t, at, t.TempDir(), nil)
	nc := dial(t, at)
	const n = 2000
	for seq := range uint64(n) {
		if err := s.Write(t.Context(), sinktest.Estimate(seq, seq/10+1)); err != nil {
			t.Fatal(err)
		}
		if seq%20 == 7 {
			if err := nc.Publish("driftscope.local.bead.kept.intruder", []byte("junk")); err != nil {
				t.Fatal(err)
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	sinktest.Close(t, s)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := js.Stream(t.Context(), "driftscope_local_bead")
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Purge(t.Context(), jetstream.WithPurgeSubject("driftscope.local.bead.kept.intruder")); err != nil {
		t.Fatal(err)
	}
	audit(t, at, n)
}
