package natsink

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// noticed is an outage that ends once it was detected.
const noticed = bus.MaxAge + 500*time.Millisecond

// outage is the duration of an outage in tests. It is short unless set, for example by DRIFTSCOPE_OUTAGE=60s.
func outage(t *testing.T, short time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv("DRIFTSCOPE_OUTAGE")
	if text == "" {
		return short
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// keeper starts a server with JetStream.
func keeper(t *testing.T) *bustest.Server {
	return bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
}

// durableOptions returns the options of a test, with a spool in store.
func durableOptions(store string) map[string]any {
	return map[string]any{"durable": true, "store": store, "max_age": "1h", "max_bytes": 1 << 30}
}

func newDurableSink(t *testing.T, at, store string, log *slog.Logger) (*Sink, *bus.Conn) {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: at})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	s, err := New(sinktest.Decoder(t, durableOptions(store)), Env{Stream: "bead", Bus: b, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return s, b
}

// audit reads the stored messages of the stream from the server at this address. It expects latents 0 to n-1, each once and in order, and one law per ten
// latents.
func audit(t *testing.T, at string, n int) {
	t.Helper()
	auditFrom(t, at, 0, n)
}

// auditFrom is audit for a stream that has lost all messages before latent first.
func auditFrom(t *testing.T, at string, first, n int) {
	t.Helper()
	nc := dial(t, at)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(t.Context(), "driftscope_local_bead", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	info, err := consumer.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next, laws := uint64(first), uint64(first/10)
	for range info.NumPending {
		m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			t.Fatal(err)
		}
		kind := latent.Kind(m.Subject()[strings.LastIndexByte(m.Subject(), '.')+1:])
		record, err := message.Decode(kind, m.Data())
		if err != nil {
			t.Fatal(err)
		}
		switch r := record.(type) {
		case *message.LatentRecord:
			if r.Seq != next {
				t.Fatalf("found latent %d, expected %d", r.Seq, next)
			}
			next++
		case *message.SDERecord:
			if laws++; r.Revision != laws {
				t.Fatalf("found law %d, expected %d", r.Revision, laws)
			}
		}
	}
	if next != uint64(n) || laws != uint64((n+9)/10) {
		t.Errorf("%d latents and %d laws are kept, expected %d and %d", next, laws, n, (n+9)/10)
	}
}

// TestDurable: the server is killed and restarted, frozen, and disconnected while a stream runs. Every durable message is stored exactly once and in order, and
// no Write waits for the server.
func TestDurable(t *testing.T) {
	t.Parallel()
	server := keeper(t)
	wire := bustest.NewWire(t, strings.TrimPrefix(server.URL(), "nats://"))
	s, _ := newDurableSink(t, "nats://"+wire.Address(), t.TempDir(), nil)
	n, slowest := 0, time.Duration(0)
	for _, phase := range []struct {
		begin func()
		lasts time.Duration
	}{
		{func() {}, 300 * time.Millisecond},
		{server.Kill, outage(t, 300*time.Millisecond)}, {server.Run, 700 * time.Millisecond},
		{server.Freeze, outage(t, 500*time.Millisecond)}, {server.Thaw, 700 * time.Millisecond},
		{func() { wire.Turn(suite.Lost) }, outage(t, noticed)}, {func() { wire.Turn(suite.Whole) }, time.Second},
	} {
		phase.begin()
		for end := time.Now().Add(phase.lasts); time.Now().Before(end); n++ {
			start := time.Now()
			if err := s.Write(t.Context(), sinktest.Estimate(uint64(n), uint64(n/10)+1)); err != nil {
				t.Fatalf("latent %d: %v", n, err)
			}
			slowest = max(slowest, time.Since(start))
			time.Sleep(time.Millisecond)
		}
	}
	suite.Until(t, func() bool { return s.durable.spool.Empty() }, func() string { return fmt.Sprintf("not all is confirmed: %+v", s.durable.kept()) })
	sinktest.Close(t, s)
	if kept := s.durable.kept(); kept.Retries == 0 || kept.Problem != "" {
		t.Errorf("found %+v, expected retries, and no problem left", kept)
	}
	t.Logf("%d latents, %d retries, the slowest Write took %v", n, s.durable.kept().Retries, slowest)
	if slowest > time.Second { // limit for a busy machine; the socket may block for a quarter of a second
		t.Errorf("a Write waited %v", slowest)
	}
	audit(t, server.URL(), n)
}

// TestDurableAcrossRuns: the next run first delivers the messages that an earlier run, killed or not, could not deliver. Nothing is delivered twice.
func TestDurableAcrossRuns(t *testing.T) {
	t.Parallel()
	server, store := keeper(t), t.TempDir()
	write := func(s *Sink, from, to int) {
		t.Helper()
		for i := from; i < to; i++ {
			if err := s.Write(t.Context(), sinktest.Estimate(uint64(i), uint64(i/10)+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	first, b := newDurableSink(t, server.URL(), store, nil)
	write(first, 0, 100)
	suite.Until(t, func() bool { return first.durable.spool.Empty() })
	server.Kill()
	suite.Until(t, func() bool { return !b.Connected() })
	write(first, 100, 200)
	sinktest.Close(t, first)
	left := filepath.Join(t.TempDir(), "killed") // the files after a kill, which still include confirmed messages
	if err := os.CopyFS(left, os.DirFS(filepath.Join(store, "spool", "driftscope_local_bead"))); err != nil {
		t.Fatal(err)
	}
	server.Run()
	second, _ := newDurableSink(t, server.URL(), store, nil)
	write(second, 200, 300)
	sinktest.Close(t, second)
	audit(t, server.URL(), 300)

	// The same spool again, with everything delivered. The server remembers identities for ten minutes; the spool does not rely on that.
	again := filepath.Join(t.TempDir(), "spool", "driftscope_local_bead")
	if err := os.CopyFS(again, os.DirFS(left)); err != nil {
		t.Fatal(err)
	}
	third, _ := newDurableSink(t, server.URL(), filepath.Dir(filepath.Dir(again)), nil)
	suite.Until(t, func() bool { return third.durable.spool.Empty() })
	sinktest.Close(t, third)
	audit(t, server.URL(), 300)
}

// TestDurableAgain: consecutive runs in one process, as after the command start, number their frames from 0 again. The server still discards none of their
// messages as duplicates, including undelivered messages of the previous run.
func TestDurableAgain(t *testing.T) {
	t.Parallel()
	server, store := keeper(t), t.TempDir()
	b, err := bus.Connect(t.Context(), bus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const runs, frames = 4, 25
	for run := range runs {
		s, err := New(sinktest.Decoder(t, durableOptions(store)), Env{Stream: "bead", Bus: b})
		if err != nil {
			t.Fatal(err)
		}
		if run == 1 { // its messages wait in the spool for the next run
			server.Kill()
			suite.Until(t, func() bool { return !b.Connected() })
		}
		for i := range uint64(frames) {
			if err := s.Write(t.Context(), sinktest.Estimate(i, 1)); err != nil {
				t.Fatal(err)
			}
		}
		sinktest.Close(t, s)
		if run == 1 {
			server.Run()
			suite.Until(t, func() bool { return b.Connected() })
		}
	}
	js, err := jetstream.New(b.NATS())
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := js.OrderedConsumer(t.Context(), "driftscope_local_bead", jetstream.OrderedConsumerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i := range runs * (frames + 1) { // every run publishes its law again
		m, err := consumer.Next(jetstream.FetchMaxWait(5 * time.Second))
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		ids[m.Headers().Get(jetstream.MsgIDHeader)] = true
		within := i % (frames + 1)
		if seq := fmt.Sprintf(`"seq":%d,`, max(within-1, 0)); !strings.Contains(string(m.Data()), seq) {
			t.Fatalf("message %d is %.80s, expected %s", i, m.Data(), seq)
		}
	}
	if len(ids) != runs*(frames+1) {
		t.Errorf("%d identities, expected %d", len(ids), runs*(frames+1))
	}
	if info, err := consumer.Info(t.Context()); err != nil || info.NumPending != 0 {
		t.Errorf("%d messages too many, %v", info.NumPending, err)
	}
}

// TestDurableBesideOthers: a client that subscribes to the stored messages and answers them changes nothing. It also cannot hide that the stream was deleted,
// however many frames arrive.
func TestDurableBesideOthers(t *testing.T) {
	t.Parallel()
	server := keeper(t)
	s, _ := newDurableSink(t, server.URL(), t.TempDir(), nil)
	defer sinktest.Close(t, s)
	other := dial(t, server.URL())
	answering, err := other.Subscribe("driftscope.local.bead.kept.*", func(m *nats.Msg) {
		for _, answer := range []string{"thanks", `{"stream": "another", "seq": 1}`, `{"error": {"description": "no"}}`} {
			m.Respond([]byte(answer))
		}
		time.AfterFunc(50*time.Millisecond, func() { m.Respond([]byte(`{"stream": "driftscope_local_bead", "seq": 1}`)) }) // after everything is confirmed
	})
	if err == nil {
		err = other.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	const frames = 60
	for i := range uint64(frames) {
		if err := s.Write(t.Context(), sinktest.Estimate(i, i/10+1)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
	}
	time.Sleep(300 * time.Millisecond)
	audit(t, server.URL(), frames)
	if kept := s.durable.kept(); kept.Retries != 0 || kept.Problem != "" {
		t.Errorf("%+v, expected no trouble", kept)
	}

	if err := answering.Unsubscribe(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Subscribe("driftscope.local.bead.kept.*", func(*nats.Msg) {}); err != nil { // without a subscriber the server reports no responders
		t.Fatal(err)
	}
	js, err := jetstream.New(other)
	if err == nil {
		err = js.DeleteStream(t.Context(), "driftscope_local_bead")
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, end := uint64(frames), time.Now().Add(ackWait+3*time.Second); ; i++ {
		if err := s.Write(t.Context(), sinktest.Estimate(i, frames/10)); err != nil {
			t.Fatal(err)
		}
		if stream, err := js.Stream(t.Context(), "driftscope_local_bead"); err == nil && stream.CachedInfo().State.Msgs > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the stream that was deleted was not made again")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestDurableFull: a full spool refuses further messages and keeps its own. A live stream loses only the refused messages.
func TestDurableFull(t *testing.T) {
	t.Parallel()
	server := keeper(t)
	s, b := newDurableSink(t, server.URL(), t.TempDir(), nil)
	server.Kill()
	suite.Until(t, func() bool { return !b.Connected() })
	const n = 100
	for i := range n {
		if err := s.Write(t.Context(), sinktest.Estimate(uint64(i), uint64(i/10)+1)); err != nil {
			t.Fatal(err)
		}
	}
	s.durable.spool.SetLimit(s.durable.spool.Waiting())
	err := s.Write(t.Context(), sinktest.Estimate(n, n/10+1))
	if _, lost := errors.AsType[latent.Undelivered](err); !lost || !strings.Contains(err.Error(), "the spool is full") {
		t.Fatalf("found %v", err)
	}
	server.Run()
	suite.Until(t, func() bool { return s.durable.spool.Empty() }, "the spool is not delivered")
	looking := dial(t, server.URL())
	live, err := looking.SubscribeSync("driftscope.local.bead.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := looking.Flush(); err != nil {
		t.Fatal(err)
	}
	next, made := sinktest.Estimate(n, n/10+1), s.durable.made.records
	for range 2 {
		if err := s.Write(t.Context(), next); err == nil {
			t.Fatal("a spool without room took a message")
		}
	}
	s.durable.spool.SetLimit(64 << 20)
	if err := s.Write(t.Context(), next); err != nil { // a refused law is written again
		t.Fatal(err)
	}
	if s.durable.made.records != made+2 { // a latent and a law
		t.Errorf("%d identities were given to a message that waited and its law, expected 2: the others would be missed", s.durable.made.records-made)
	}
	for _, want := range []string{"latent", SampledToken, "sde"} { // live subscribers get each message once, stored or not
		if m, err := live.NextMsg(5 * time.Second); err != nil || m.Subject != "driftscope.local.bead."+want {
			t.Errorf("found %v, %v: expected one %s", m, err, want)
		}
	}
	if m, err := live.NextMsg(50 * time.Millisecond); err == nil {
		t.Errorf("%s comes twice", m.Subject)
	}
	sinktest.Close(t, s)
	audit(t, server.URL(), n+1)
}

// TestDurableRefused: a server without JetStream gives an error at once.
func TestDurableRefused(t *testing.T) {
	t.Parallel()
	server := bustest.Start(t, "")
	b, err := bus.Connect(t.Context(), bus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	_, err = New(sinktest.Decoder(t, durableOptions(t.TempDir())), Env{Stream: "bead", Bus: b})
	if err == nil || !strings.Contains(err.Error(), "enable JetStream there") {
		t.Errorf("found %v", err)
	}
}

// TestDurableEmbedded: the embedded server also stores the messages, and has them after a restart of the program.
func TestDurableEmbedded(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	for run := range 2 {
		b, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Store: filepath.Join(store, "server")})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(sinktest.Decoder(t, durableOptions(store)), Env{Stream: "bead", Bus: b})
		if err != nil {
			t.Fatal(err)
		}
		for i := 50 * run; i < 50*run+50; i++ {
			if err := s.Write(t.Context(), sinktest.Estimate(uint64(i), uint64(i/10)+1)); err != nil {
				t.Fatal(err)
			}
		}
		sinktest.Close(t, s)
		audit(t, b.URL(), 50*run+50)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDurableOnFullServer: a server whose disk was full stores nothing, even with room again, until it is restarted. The log explains this, and after the
// restart every message is stored.
func TestDurableOnFullServer(t *testing.T) {
	t.Parallel()
	disk := bustest.SmallDisk(t, 64<<20)
	server := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q, max_file_store: 32MB}", disk))
	b, err := bus.Connect(t.Context(), bus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	options := durableOptions(t.TempDir())
	options["max_bytes"] = 16 << 20
	made, err := New(sinktest.Decoder(t, options), Env{Stream: "bead", Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	s, n := made, 0
	write := func() {
		t.Helper()
		if err := s.Write(t.Context(), sinktest.Estimate(uint64(n), uint64(n/10)+1)); err != nil {
			t.Fatal(err)
		}
		n++
	}
	for range 100 {
		write()
	}
	filler := filepath.Join(disk, "filler")
	if err := os.WriteFile(filler, make([]byte, 64<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("found %v", err)
	}
	for end := time.Now().Add(20 * time.Second); s.durable.kept().Problem == ""; time.Sleep(time.Millisecond) {
		if write(); time.Now().After(end) {
			t.Fatal("a full disk hinders nothing")
		}
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	suite.Until(t, func() bool { return strings.Contains(s.durable.kept().Problem, "make room and restart it") }, func() string { return fmt.Sprintf("found %+v", s.durable.kept()) })
	server.Kill()
	server.Run()
	write()
	suite.Until(t, func() bool { return s.durable.spool.Empty() }, func() string { return fmt.Sprintf("not all is confirmed: %+v", s.durable.kept()) })
	sinktest.Close(t, s)
	audit(t, server.URL(), n)
}
