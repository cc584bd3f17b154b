package natsink

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
	"driftscope/sinks/spool"
)

// TestLook logs only if another client's message has the sequence number of a record.
func TestLook(t *testing.T) {
	t.Parallel()
	nc := dial(t, keeper(t).URL())
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "kept", Subjects: []string{"kept"}}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"stranger", "b", "c"} {
		if _, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: "kept", Header: nats.Header{jetstream.MsgIDHeader: {id}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name   string
		spool  []string // identities of the records in the spool
		last   string   // identity of the stream's last message
		seq    uint64   // sequence number of the stream's last message
		warned bool
	}{
		{"a stranger's in place of a", []string{"a", "b", "c"}, "c", 3, true},
		{"all are ours", []string{"b", "c"}, "c", 3, false},
		{"one record tells nothing", []string{"c"}, "c", 3, false},
		{"another's message is the last", []string{"a", "b"}, "c", 3, false},
		{"the stream has no such message", []string{"a", "b"}, "b", 9, false},
	} {
		var log bytes.Buffer
		s, err := spool.Open(t.TempDir(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range c.spool {
			if err := s.Append(spool.AppendRecord(nil, spool.Record{Kind: latent.KindLatent, ID: id, Line: []byte("{}")})); err != nil {
				t.Fatal(err)
			}
		}
		end := s.First()
		for ok := true; ok; {
			if _, end, ok, err = s.Read(end); err != nil {
				t.Fatal(err)
			}
		}
		d := &durable{nc: nc, spool: s, state: Kept{Stream: "kept"}, log: slog.New(slog.NewTextHandler(&log, nil))}
		if d.look(t.Context(), c.last, end, c.seq); strings.Contains(log.String(), "another client publishes") != c.warned {
			t.Errorf("%s: logged %q", c.name, log.String())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestClosedConnection: on a closed connection every operation fails at once.
func TestClosedConnection(t *testing.T) {
	t.Parallel()
	at := keeper(t).URL()
	k := newBucket(t, at)
	s, b := newDurableSink(t, at, t.TempDir(), slog.New(slog.DiscardHandler))
	defer s.Close(t.Context()) // any error comes from the closed connection
	large := make([]byte, b.NATS().MaxPayload()+1)
	if err := s.publishOn("large", large); err == nil || !strings.Contains(err.Error(), "max_payload") {
		t.Errorf("a message beyond the server's limit: %v", err)
	}
	if err := s.publishOn("", nil); !errors.Is(err, nats.ErrBadSubject) {
		t.Errorf("a message without a subject: %v", err)
	}
	k.bus.NATS().Close()
	b.NATS().Close()
	subject := mustSubject(t, b)
	for name, do := range map[string]func() error{
		"a sink": func() error {
			_, err := New(sinktest.Decoder(t, durableOptions(t.TempDir())), Env{Stream: "bead", Bus: b})
			return err
		},
		"a bucket":       func() error { _, err := OpenBucket(b, BucketOptions{Stream: "bead"}); return err },
		"a state":        func() error { _, err := k.State("model", AnyFrames); return err },
		"an older state": func() error { _, err := k.State("model", 1); return err },
		"what is kept":   func() error { _, err := Stand(t.Context(), b, "bead"); return err },
		"the last message": func() error {
			return new(Standing).lastMessage(t.Context(), b.NATS(), &jetstream.StreamInfo{State: jetstream.StreamState{LastSeq: 1}})
		},
		"the last of kinds": func() error { return new(Standing).lastOfKinds(t.Context(), b.NATS(), subject) },
		"what to send":      func() error { _, _, err := s.durable.resume(t.Context()); return err },
		"what is stored":    func() error { _, err := s.durable.stored(t.Context(), "f1", true); return err },
		"another's name":    func() error { _, err := Stand(t.Context(), b, "a.b"); return err },
		"another's bucket":  func() error { _, err := OpenBucket(b, BucketOptions{Stream: "a.b"}); return err },
	} {
		if err := do(); err == nil {
			t.Errorf("%s: no error over a closed connection", name)
		}
	}
	s.durable.fenced.Store(true)
	if err := s.keep(sinktest.Estimate(1, 1)); !errors.Is(err, ErrFenced) {
		t.Errorf("a sink without its lease: %v", err)
	}
}

// TestNewRefuses: New refuses wrong options and unusable connections.
func TestNewRefuses(t *testing.T) {
	wrong := errors.New("wrong options")
	if _, err := New(func(any) error { return wrong }, Env{}); !errors.Is(err, wrong) {
		t.Errorf("options that do not decode: %v", err)
	}
	if _, err := New(func(any) error { return nil }, Env{}); err == nil || !strings.Contains(err.Error(), "nats.url") {
		t.Errorf("no connection: %v", err)
	}
	if _, err := New(func(any) error { return nil }, Env{Stream: "a.b", Bus: new(bus.Conn)}); err == nil {
		t.Error("a name that is no token: no error")
	}
	var none *Bucket
	none.Close()
}

// TestFrameOfMessages: if frames are replayed, each kind of message belongs to its own frame.
func TestFrameOfMessages(t *testing.T) {
	for _, m := range []latent.Message{&latent.Law{Seq: 7}, &latent.Event{Seq: 7}, &latent.Trigger{Seq: 7}, &latent.Track{Seq: 7}, &latent.Population{Seq: 7}} {
		d := &durable{standing: &Standing{}}
		d.made.tally.frame = 3
		if d.begin(m); d.made.tally.frame != 7 {
			t.Errorf("%T: frame %d, expected 7", m, d.made.tally.frame)
		}
	}
	var n tally
	if n.count("none", 4) != 0 || new(Standing).has("none", 0, 0) {
		t.Error("a kind that is never kept is counted")
	}
}

// TestUnpackedRefuses: unpacked refuses values in KV that are not states.
func TestUnpackedRefuses(t *testing.T) {
	written := func(comment string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Comment = comment
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for name, value := range map[string][]byte{"no archive": []byte("x"), "no model": written("one"), "no number": written("model writer 1 two 3")} {
		if _, _, err := unpacked(value); err == nil || !strings.Contains(err.Error(), "it is no state") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestApplyAtTheEnd: a command that the run accepted before its end is answered; any other is refused.
func TestApplyAtTheEnd(t *testing.T) {
	for _, answered := range []bool{true, false} {
		r := &responder{commands: make(chan latent.Command), ended: make(chan struct{})}
		go func() {
			c := <-r.commands
			if answered {
				c.Reply(nil)
			}
			close(r.ended)
		}()
		var refused *latent.Refusal
		if text, err := r.apply(latent.Command{Name: "reset"}); answered && (err != nil || string(text) != "ok") || !answered && !errors.As(err, &refused) {
			t.Errorf("answered %v: found %q, %v", answered, text, err)
		}
	}
	r := &responder{about: func() About { return About{} }, bucket: &Bucket{state: KeptState{Bucket: "laws"}}}
	if text, err := r.info(); err != nil || !strings.Contains(string(text), `"laws"`) {
		t.Errorf("info says %s, %v", text, err)
	}
}

// TestUnkept: a server that is lost while a run starts is not a mistake of the user. A server that refuses is.
func TestUnkept(t *testing.T) {
	for _, c := range []struct {
		err     error
		passing bool
	}{
		{context.DeadlineExceeded, true},
		{fmt.Errorf("asking: %w", nats.ErrReconnectBufExceeded), true}, // the server was killed between the connection and the first request
		{jetstream.ErrJetStreamNotEnabled, false},
		{nats.ErrPermissionViolation, false},
	} {
		if err := unkept("KV_x", "enable JetStream", c.err); errors.Is(err, ErrUnanswered) != c.passing {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}
