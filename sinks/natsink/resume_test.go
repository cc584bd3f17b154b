package natsink

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
	"driftscope/sinks/sinktest"
)

// writes writes the latents in [from, to), with a new law every ten.
func writes(t *testing.T, s *Sink, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := s.Write(t.Context(), sinktest.Estimate(uint64(i), uint64(i/10)+1)); err != nil {
			t.Fatal(err)
		}
	}
}

func delivers(t *testing.T, s *Sink) {
	t.Helper()
	suite.Until(t, func() bool { return s.durable.spool.Empty() }, func() string { return fmt.Sprintf("not all is confirmed: %+v", s.durable.kept()) })
}

// noted makes the spool write its position of delivery to the disk, which otherwise happens once a second.
func noted(t *testing.T, s *Sink) {
	t.Helper()
	time.Sleep(1100 * time.Millisecond)
	if err := s.durable.spool.Forget(s.durable.spool.First()); err != nil {
		t.Fatal(err)
	}
}

// killed copies the spool of a run that has lost its server, in the state after a kill, and ends the run.
func killed(t *testing.T, s *Sink) (store string) {
	t.Helper()
	store = t.TempDir()
	if err := os.CopyFS(filepath.Join(store, "spool", "driftscope_local_bead"), os.DirFS(s.durable.spool.Folder)); err != nil {
		t.Fatal(err)
	}
	sinktest.Close(t, s)
	return store
}

// TestResume: whatever happened to the JetStream stream between two runs, the next run stores all messages that follow the last stored one, once and in order.
func TestResume(t *testing.T) {
	t.Parallel()
	const delivered, waiting, all = 100, 150, 200 // numbers of latents that the first run delivers, that it writes, and that both runs write
	for name, c := range map[string]struct {
		between func(t *testing.T, server *bustest.Server, js jetstream.JetStream)
		from    int    // the first latent that is stored then
		says    string // text that appears in the log once
	}{
		"nothing": {func(*testing.T, *bustest.Server, jetstream.JetStream) {}, 0, ""},
		"the stream is deleted": {func(t *testing.T, _ *bustest.Server, js jetstream.JetStream) {
			if err := js.DeleteStream(t.Context(), "driftscope_local_bead"); err != nil {
				t.Fatal(err)
			}
		}, delivered, "the JetStream stream was deleted"},
		"the stream is emptied, as by its max_age": {func(t *testing.T, _ *bustest.Server, js jetstream.JetStream) {
			kept, err := js.Stream(t.Context(), "driftscope_local_bead")
			if err == nil {
				err = kept.Purge(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
		}, delivered, ""},
		"a stranger publishes among what is kept": {func(t *testing.T, server *bustest.Server, _ jetstream.JetStream) {
			nc := dial(t, server.URL())
			if err := nc.Publish("driftscope.local.bead.kept.event", []byte("{}")); err != nil {
				t.Fatal(err)
			}
			if err := nc.Flush(); err != nil {
				t.Fatal(err)
			}
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := keeper(t)
			first, b := newDurableSink(t, server.URL(), t.TempDir(), nil)
			writes(t, first, 0, delivered/2)
			delivers(t, first)
			noted(t, first)
			writes(t, first, delivered/2, delivered)
			delivers(t, first)
			if c.from == delivered { // messages confirmed within the last second would be sent again
				noted(t, first)
			}
			loses(b)
			writes(t, first, delivered, waiting)
			store := killed(t, first)
			js, err := jetstream.New(dial(t, server.URL()))
			if err != nil {
				t.Fatal(err)
			}
			c.between(t, server, js)
			var log suite.Transcript
			second, _ := newDurableSink(t, server.URL(), store, slog.New(slog.NewTextHandler(&log, nil)))
			writes(t, second, waiting, all)
			delivers(t, second)
			sinktest.Close(t, second)
			if kept, err := js.Stream(t.Context(), "driftscope_local_bead"); err != nil {
				t.Fatal(err)
			} else if err := kept.Purge(t.Context(), jetstream.WithPurgeSubject("driftscope.local.bead.kept.event")); err != nil { // the other client's
				t.Fatal(err)
			}
			auditFrom(t, server.URL(), c.from, all)
			if c.says != "" && log.Count(c.says) != 1 {
				t.Errorf("%q is said %d times, expected once: %s", c.says, log.Count(c.says), &log)
			}
		})
	}
}

// TestResumeServerLost: if a server has lost messages that it had confirmed, the next run sends those again that the spool still has.
func TestResumeServerLost(t *testing.T) {
	t.Parallel()
	folder, older := t.TempDir(), t.TempDir()
	server := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", folder))
	first, b := newDurableSink(t, server.URL(), t.TempDir(), nil)
	writes(t, first, 0, 50)
	delivers(t, first)
	server.Kill()
	if err := os.CopyFS(older, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	server.Run()
	writes(t, first, 50, 80)
	delivers(t, first)
	noted(t, first)
	server.Kill()
	suite.Until(t, func() bool { return !b.Connected() })
	writes(t, first, 80, 100)
	store := killed(t, first)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, os.DirFS(older)); err != nil {
		t.Fatal(err)
	}
	server.Run()
	var log suite.Transcript
	second, _ := newDurableSink(t, server.URL(), store, slog.New(slog.NewTextHandler(&log, nil)))
	writes(t, second, 100, 150)
	delivers(t, second)
	sinktest.Close(t, second)
	audit(t, server.URL(), 150)
	if n := log.Count("has lost messages that it had confirmed"); n != 1 {
		t.Errorf("the loss is said %d times, expected once: %s", n, &log)
	}
}

// TestResumeElsewhere: a machine delivers its old spool even if another machine has run the stream meanwhile.
func TestResumeElsewhere(t *testing.T) {
	t.Parallel()
	server := keeper(t)
	first, b := newDurableSink(t, server.URL(), t.TempDir(), nil)
	writes(t, first, 0, 10)
	delivers(t, first)
	noted(t, first)
	loses(b)
	writes(t, first, 20, 30)
	store := killed(t, first)
	elsewhere, _ := newDurableSink(t, server.URL(), t.TempDir(), nil)
	writes(t, elsewhere, 10, 20)
	delivers(t, elsewhere)
	sinktest.Close(t, elsewhere)
	second, _ := newDurableSink(t, server.URL(), store, nil)
	delivers(t, second)
	sinktest.Close(t, second)
	audit(t, server.URL(), 30)
}

// TestResumeClock: the identities of a run follow the identities of the previous run even if the clock was set back by an hour in between.
func TestResumeClock(t *testing.T) {
	t.Parallel()
	server := keeper(t)
	first, b := newDurableSink(t, server.URL(), t.TempDir(), nil)
	first.durable.run = strconv.FormatInt(time.Now().Add(time.Hour).UnixNano(), 36)
	first.durable.origins = []string{first.durable.run}
	writes(t, first, 0, 20)
	delivers(t, first)
	loses(b)
	writes(t, first, 20, 30)
	store := killed(t, first)
	wire := bustest.NewWire(t, server.URL()[len("nats://"):])
	second, b := newDurableSink(t, "nats://"+wire.Address(), store, nil)
	writes(t, second, 30, 40)
	delivers(t, second)
	wire.Turn(suite.Lost)
	for end := time.Now().Add(bus.MaxAge + 10*time.Second); b.Connected() && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	writes(t, second, 40, 50) // the stream does not have these when it is read again
	wire.Turn(suite.Whole)
	delivers(t, second)
	sinktest.Close(t, second)
	audit(t, server.URL(), 50)
}
