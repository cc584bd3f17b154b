package natsink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/sinktest"
)

// attacked is a stream with a law in KV and stored results, on the embedded server or on a server with the shipped configuration.
type attacked struct {
	t       *testing.T
	as      func(user string) *nats.Conn // on the embedded server every user is a program of this machine
	own     *bus.Conn                    // connection of the program
	sink    *Sink
	applied chan latent.Command
	bucket  *Bucket
	heard   *nats.Subscription // latents that a viewer receives
	log     *suite.Transcript
}

// eachServer runs an attack on both kinds of server. Only the shipped configuration has viewers.
func eachServer(t *testing.T, attack func(a *attacked)) {
	t.Run("embedded", func(t *testing.T) {
		b, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Store: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		attack(newAttacked(t, b, func(string) *nats.Conn { return dial(t, b.URL()) }))
	})
	t.Run("external", func(t *testing.T) {
		as := bustest.Shipped(t)
		b, err := bus.Connect(t.Context(), bus.Options{URL: as("driftscope")})
		if err != nil {
			t.Fatal(err)
		}
		attack(newAttacked(t, b, func(user string) *nats.Conn { return dial(t, as(user)) }))
	})
}

func newAttacked(t *testing.T, b *bus.Conn, as func(string) *nats.Conn) *attacked {
	t.Helper()
	a := &attacked{t: t, as: as, own: b, log: &suite.Transcript{}}
	log := slog.New(slog.NewTextHandler(a.log, nil))
	t.Cleanup(func() { b.Close() })
	var err error
	if a.bucket, err = OpenBucket(b, BucketOptions{Stream: "bead", Log: log}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.bucket.Close)
	if err := a.bucket.KeepState(law(1, 1000), "model-a", At{}); err != nil {
		t.Fatal(err)
	}
	a.bucket.KeepConfiguration([]byte("stream: bead\n"))
	a.sink, a.applied = newControlled(t, Env{Stream: "bead", Bus: b, Bucket: a.bucket, Log: log})
	t.Cleanup(func() { sinktest.Close(t, a.sink) })
	others := as("viewer")
	if a.heard, err = others.SubscribeSync("driftscope.local.*.latent"); err != nil {
		t.Fatal(err)
	}
	for _, nc := range []*nats.Conn{b.NATS(), others} {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// settle waits until all sent messages have been processed, by sending a request to each endpoint and waiting for the answer.
func (a *attacked) settle(commands ...string) InfoRecord {
	a.t.Helper()
	operator := a.as("operator")
	for _, name := range append(commands, "dance", "info") { // the endpoint of unknown commands refuses dance
		if _, err := operator.Request("driftscope.local.bead.cmd."+name, nil, 5*time.Second); err != nil {
			a.t.Fatalf("%s: %v", name, err)
		}
	}
	m, err := operator.Request("driftscope.local.bead.cmd.info", nil, 5*time.Second)
	if err != nil {
		a.t.Fatal(err)
	}
	var info InfoRecord
	if err := json.Unmarshal(m.Data, &info); err != nil {
		a.t.Fatal(err)
	}
	return info
}

// unharmed checks that no command was applied, nothing was published in the program's name, and KV contains only the program's values.
func (a *attacked) unharmed() {
	a.t.Helper()
	for len(a.applied) > 0 {
		a.t.Errorf("the command %s was applied", (<-a.applied).Name)
	}
	if m, err := a.heard.NextMsg(50 * time.Millisecond); err == nil {
		a.t.Errorf("%s was heard: %.100s", m.Subject, m.Data)
	}
	if kept, err := a.bucket.State("model-a", AnyFrames); err != nil || !bytes.Equal(readAll(a.t, kept.Checkpoint), law(1, 1000)) {
		a.t.Errorf("the law that was kept is another: %s: %v", kept.Where, err)
	}
	if text, err := a.bucket.Configuration(); err != nil || string(text) != "stream: bead\n" {
		a.t.Errorf("the configuration in KV is %.100q, %v", text, err)
	}
}

// TestReplySubjects: no client can make the program, or the server, publish an answer on a subject to which the client may not publish. The program refuses and
// counts each such request that reaches it.
func TestReplySubjects(t *testing.T) {
	replies := []string{
		"$KV.driftscope_local.bead.state", "$KV.driftscope_local.bead.config", "driftscope.local.bead.latent", "driftscope.local.bead.cmd.stop",
		"driftscope.local.bead.kept.latent", "$JS.API.STREAM.DELETE.KV_driftscope_local", "INBOX.a", "",
	}
	requests := []string{
		"driftscope.local.bead.cmd.info", "driftscope.local.bead.cmd.stats", "driftscope.local.bead.cmd.snapshot", "$SRV.PING", "$SRV.INFO", "$SRV.STATS.driftscope",
	}
	eachServer(t, func(a *attacked) {
		viewer := a.as("viewer")
		for _, reply := range replies {
			for _, subject := range requests {
				if err := viewer.PublishMsg(&nats.Msg{Subject: subject, Reply: reply}); err != nil {
					a.t.Fatal(err)
				}
			}
		}
		if err := viewer.Flush(); err != nil {
			a.t.Fatal(err)
		}
		info := a.settle("info", "stats", "snapshot")
		a.unharmed()
		if info.Refused != uint64(len(replies)*len(requests)) {
			a.t.Errorf("%d requests are counted as refused, expected %d", info.Refused, len(replies)*len(requests))
		}
	})
}

// TestInbox checks which reply subjects count as inboxes.
func TestInbox(t *testing.T) {
	e := &endpoints{inbox: "_mine.abc."}
	for reply, want := range map[string]bool{
		"_INBOX.a.b": true, "_INBOX_operator.a": true, "_mine.abc.d": true, "_R_.x.y": true, "_GR_.c.s._INBOX.a": true,
		"": false, "_mine.other": false, "_GR_.c.s.$KV.b.k": false, "_GR_.c.s": false, "_GR_.": false, "$JS.ACK.a": false, "driftscope.local.bead.latent": false, "x._INBOX.a": false,
	} {
		if e.isInbox(reply) != want {
			t.Errorf("%q is an inbox: %v, expected %v", reply, !want, want)
		}
	}
}

// TestCommandsAreRequests: an operator's commands are executed only if the reply subject is an inbox.
func TestCommandsAreRequests(t *testing.T) {
	eachServer(t, func(a *attacked) {
		operator := a.as("operator")
		for _, reply := range []string{"", "nobody"} {
			if err := operator.PublishMsg(&nats.Msg{Subject: "driftscope.local.bead.cmd.stop", Reply: reply}); err != nil {
				a.t.Fatal(err)
			}
		}
		if err := operator.Flush(); err != nil {
			a.t.Fatal(err)
		}
		if info := a.settle(); info.Refused != 2 {
			a.t.Errorf("%d requests are counted as refused, expected 2", info.Refused)
		}
		a.unharmed()
		if m, err := operator.Request("driftscope.local.bead.cmd.pause", nil, 5*time.Second); err != nil || string(m.Data) != "ok" {
			a.t.Errorf("a request was answered %v, %v", m, err)
		}
	})
}

// TestRefusalFlood: three thousand requests, each with a different reply subject, give one log line.
func TestRefusalFlood(t *testing.T) {
	eachServer(t, func(a *attacked) {
		operator := a.as("operator")
		const flood = 3000
		for i := range flood {
			if err := operator.PublishRequest("driftscope.local.bead.cmd.info", fmt.Sprint("victim.", i), nil); err != nil {
				a.t.Fatal(err)
			}
			if i%32 == 31 || i == flood-1 { // fewer than fit into an endpoint's queue
				if err := operator.Flush(); err != nil { // settle uses another connection
					a.t.Fatal(err)
				}
				a.settle("info")
			}
		}
		if info := a.settle("info"); info.Refused != flood {
			a.t.Errorf("%d requests are counted as refused, expected %d", info.Refused, flood)
		}
		if n := a.log.Count("\n"); n == 0 || n > 6 { // one per ten seconds, on a machine that takes a minute
			a.t.Errorf("%d lines were logged, expected one in ten seconds", n)
		}
	})
}

// TestCaptured: a JetStream stream that covers the command subjects confirms commands instead of the program. The program reports it in the log, as an event,
// and in the answer to info.
func TestCaptured(t *testing.T) {
	eachServer(t, func(a *attacked) {
		nc := a.own.NATS() // only the program may do so with the shipped configuration
		events := make(chan *nats.Msg, 16)
		seen, err := a.as("viewer").ChanSubscribe("driftscope.local.bead.event", events)
		if err != nil {
			a.t.Fatal(err)
		}
		defer seen.Unsubscribe()
		js, err := jetstream.New(nc)
		if err != nil {
			a.t.Fatal(err)
		}
		if _, err := js.CreateStream(a.t.Context(), jetstream.StreamConfig{Name: "SPY", Subjects: []string{"driftscope.*.*.cmd.*"}}); err != nil {
			a.t.Fatal(err)
		}
		select {
		case m := <-events:
			if !strings.Contains(string(m.Data), "commands_captured") || !strings.Contains(string(m.Data), "SPY") {
				a.t.Errorf("found %s", m.Data)
			}
		case <-time.After(3 * captureEvery):
			a.t.Fatal("no event tells of a stream over the commands")
		}
		if a.log.Count("SPY") == 0 {
			a.t.Error("it is not logged")
		}
		if by, err := (&capture{bus: a.own, subject: mustSubject(a.t, a.own)}).look(a.t.Context()); err != nil || len(by) != 1 || by[0] != "SPY" {
			a.t.Errorf("found %v, %v", by, err)
		}
	})
}

func mustSubject(t *testing.T, b *bus.Conn) bus.Subject {
	t.Helper()
	s, err := b.Subject("bead")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func readAll(t *testing.T, r io.Reader) []byte {
	t.Helper()
	b, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	return b
}
