package natsink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// newControlled makes a sink whose runner applies every command except reset. It also returns the applied commands.
func newControlled(t *testing.T, env Env) (s *Sink, applied chan latent.Command) {
	t.Helper()
	s, err := New(sinktest.Decoder(t, nil), env)
	if err != nil {
		t.Fatal(err)
	}
	applied = make(chan latent.Command, 100)
	ended := make(chan struct{})
	t.Cleanup(func() { close(ended) })
	commands := s.Commands()
	go func() {
		for {
			select {
			case c := <-commands:
				applied <- c
				if c.Name == "reset" {
					c.Reply(latent.Refuse(latent.Conflict, "reset: cannot be reset: start the stream again"))
				} else {
					c.Reply(nil)
				}
			case <-ended:
				return
			}
		}
	}()
	return s, applied
}

func TestNATSCommands(t *testing.T) {
	b := sinktest.Bus(t)
	about := About{Source: "sim:molecule", Model: "embedded:molecule", ModelSHA256: "ab", ConfigSHA256: "cd", Latents: 2, Seed: 1, Started: sinktest.Noon.UTC(),
		Triggers: []string{"edge"}, Rules: []json.RawMessage{[]byte(`{"zone":{"name":"edge","centroid_px":{"x":[0,1],"y":[0,1]}}}`)}}
	s, applied := newControlled(t, Env{Stream: "bead", Bus: b, About: func() About { return about }})
	defer sinktest.Close(t, s)
	ask := func(name string, payload []byte, code, want string) []byte {
		t.Helper()
		m, err := b.NATS().Request("driftscope.local.bead.cmd."+name, payload, 5*time.Second)
		if err != nil || !strings.Contains(string(m.Data), want) || m.Header.Get(micro.ErrorCodeHeader) != code {
			t.Fatalf("%s: found %+v, %v, expected code %q and %q", name, m, err, code, want)
		}
		if code != "" && m.Header.Get(micro.ErrorHeader) != string(m.Data) {
			t.Errorf("%s: the header says %q, the body %q", name, m.Header.Get(micro.ErrorHeader), m.Data)
		}
		return m.Data
	}
	ask("stats", nil, "503", "try again")
	if got := ask("pause", nil, "", "ok"); string(got) != "ok" {
		t.Errorf("found %q", got)
	}
	ask("roi", []byte(`{"x":1}`), "", "ok")
	ask("reset", nil, "409", "start the stream again")
	ask("dance", nil, "404", "send info, stats, snapshot, pause")
	ask("pause", bytes.Repeat([]byte("x"), maxCommand+1), "400", "expected at most 4096")
	for _, want := range []string{"pause ", `roi {"x":1}`, "reset "} {
		if c := <-applied; c.Name+" "+string(c.Payload) != want {
			t.Errorf("applied %s %s, expected %s", c.Name, c.Payload, want)
		}
	}
	if len(applied) != 0 {
		t.Error("a refused command reached the runner")
	}

	var info struct {
		message.Header
		About
	}
	if err := json.Unmarshal(ask("info", nil, "", "sim:molecule"), &info); err != nil || !reflect.DeepEqual(info.About, about) || info.Stream != "bead" || info.Kind != "info" {
		t.Errorf("found %+v, %v", info, err)
	}
	messages := []latent.Message{sinktest.Estimate(0, 1), sinktest.Health(), sinktest.View(), sinktest.Estimate(1, 1), sinktest.Trigger(1)}
	for seq := range uint64(maxEvents + 2) {
		messages = append(messages, &latent.Event{Seq: seq, Time: sinktest.Noon, Level: latent.Info, Code: "template_found", Count: 1})
	}
	for _, m := range messages {
		if err := s.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	_, want := sinktest.Lines(t, (&message.Encoder{Stream: "bead"}).Encode, messages...) // latent, sde, health, view, latent, trigger
	if got := ask("stats", nil, "", ""); string(got) != want[2] {
		t.Errorf("found %s, expected %s", got, want[2])
	}
	snapshot := fmt.Sprintf(`{"event":%s,"events":[%s],"health":%s,"kind":"snapshot","latent":%s,"sde":%s,"stream":"bead","trigger":%s,"v":1,"view":%s}`,
		want[len(want)-1], strings.Join(want[len(want)-maxEvents:], ","), want[2], want[4], want[1], want[5], want[3])
	if got := ask("snapshot", nil, "", ""); string(got) != snapshot {
		t.Errorf("found %s, expected %s", got, snapshot)
	}
}

// TestNATSService: a client of micro finds the stream, its commands and its number of refused requests.
func TestNATSService(t *testing.T) {
	b := sinktest.Bus(t)
	one, _ := newControlled(t, Env{Stream: "bead", Bus: b})
	defer sinktest.Close(t, one)
	two, applied := newControlled(t, Env{Stream: "cell", Bus: b})
	defer sinktest.Close(t, two)
	for _, name := range []string{"pause", "reset", "dance"} {
		if _, err := b.NATS().Request("driftscope.local.cell.cmd."+name, nil, 5*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if len(applied) != 2 {
		t.Errorf("%d commands applied, expected those for this stream", len(applied))
	}
	var found map[string]micro.Stats
	counted := func() bool { // a request is counted after its answer
		found = askServices(t, b.NATS(), 2)
		for _, e := range found["cell"].Endpoints {
			want := map[string][2]int{"pause": {1, 0}, "reset": {1, 1}, "other": {1, 1}}[e.Name]
			if [2]int{e.NumRequests, e.NumErrors} != want {
				return false
			}
		}
		return true
	}
	suite.Until(t, func() bool { return counted() }, func() string { return fmt.Sprintf("found %+v", found) })
	if len(found) != 2 || found["cell"].Version != "1.0.0" || found["cell"].Metadata["subject"] != "driftscope.local.cell.*" {
		t.Fatalf("found %+v", found)
	}
	for _, e := range found["cell"].Endpoints {
		if want := "driftscope.local.cell.cmd."; !strings.HasPrefix(e.Subject, want) {
			t.Errorf("%s: on %s, expected %sNAME", e.Name, e.Subject, want)
		}
	}
}

// askServices returns the answers of n services to a request in $SRV, by stream.
func askServices(t *testing.T, nc *nats.Conn, n int) map[string]micro.Stats {
	t.Helper()
	inbox, err := nc.SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	defer inbox.Unsubscribe()
	if err := nc.PublishRequest("$SRV.STATS.driftscope", inbox.Subject, nil); err != nil {
		t.Fatal(err)
	}
	found := map[string]micro.Stats{}
	for range n {
		m, err := inbox.NextMsg(5 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		var s micro.Stats
		if err := json.Unmarshal(m.Data, &s); err != nil {
			t.Fatal(err)
		}
		found[s.Metadata["stream"]] = s
	}
	return found
}

// TestNATSCommandAtTheEnd: a command that is too late to be applied is refused, not ignored.
func TestNATSCommandAtTheEnd(t *testing.T) {
	b := sinktest.Bus(t)
	s, err := New(sinktest.Decoder(t, nil), Env{Stream: "bead", Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	inbox, err := b.NATS().SubscribeSync(nats.NewInbox())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.NATS().PublishRequest("driftscope.local.bead.cmd.reset", inbox.Subject, nil); err != nil {
		t.Fatal(err)
	}
	if err := b.NATS().Flush(); err != nil {
		t.Fatal(err)
	}
	sinktest.Close(t, s)
	if m, err := inbox.NextMsg(5 * time.Second); err != nil || !strings.Contains(string(m.Data), "ending") || m.Header.Get(micro.ErrorCodeHeader) != "503" {
		t.Errorf("a command at the end was answered %v, %v", m, err)
	}
	if _, err := b.NATS().Request("driftscope.local.bead.cmd.reset", nil, 5*time.Second); err != nats.ErrNoResponders {
		t.Errorf("after the end: found %v", err)
	}
}
