package pool

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// health waits for a health record that satisfies holds, and calls say again and again.
func health(t *testing.T, from *nats.Subscription, what string, say func(), holds func(*message.HealthRecord) bool) *message.HealthRecord {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		say()
		m, err := from.NextMsg(200 * time.Millisecond)
		if err != nil {
			continue
		}
		r, err := message.Decode(latent.KindHealth, m.Data)
		if err != nil {
			t.Fatalf("%v: %s", err, m.Data)
		}
		h := r.(*message.HealthRecord)
		lost := uint64(0)
		for _, n := range h.Dropped {
			lost += n
		}
		if h.Frames != h.Tracked+lost || h.Stream != "all" && h.Stream != "plate" {
			t.Fatalf("records in are not those tracked and dropped, or of another stream: %s", m.Data)
		}
		if holds(h) {
			return h
		}
	}
	t.Fatalf("waited 20 s for %s", what)
	return nil
}

// TestHealth: an experiment publishes every second the cameras of its law, the time of each one's last record, and the silent ones. It also publishes its end.
func TestHealth(t *testing.T) {
	t.Parallel()
	e := begin(t, Command{Streams: []string{"left", "right", "absent"}, Stale: 2})
	go func() {
		for e.printed.Scan() {
		}
	}()
	kinds := map[string]*nats.Subscription{}
	for _, kind := range []string{"health", "event"} {
		s, err := e.nc.SubscribeSync("driftscope.local.all." + kind)
		if err != nil {
			t.Fatal(err)
		}
		kinds[kind] = s
	}
	state := func(state string) func(*message.HealthRecord) bool {
		return func(h *message.HealthRecord) bool { return h.State == state }
	}
	seq := uint64(0)
	right := func() {
		seq++
		e.publish("right", lineOf(t, "right", seq, 2, 0.1))
	}
	both := func() {
		right()
		e.publish("left", lineOf(t, "left", seq, 2, 0.1))
		e.publish("left", []byte(`{"v":1,"kind":"popu`))
	}
	h := health(t, kinds["health"], "the beginning", func() {}, state("starting"))
	if len(h.Cameras) != 3 || h.Cameras[0].Stream != "absent" || h.Cameras[1].Out != "not heard yet" || h.Cameras[1].Heard != nil {
		t.Errorf("at the beginning: %+v", h)
	}
	h = health(t, kinds["health"], "a law of two", both, func(h *message.HealthRecord) bool {
		return h.State == "tracking" && h.Cameras[0].Out == "silent for 2s"
	})
	for _, c := range h.Cameras[1:] {
		if c.Out != "" || c.Silences != 0 || h.Time.Sub(*c.Heard) < 0 || h.Time.Sub(*c.Heard) > 2*time.Second {
			t.Errorf("at %v: %+v", h.Time, c)
		}
	}
	if h.Cameras[0].Heard != nil || h.Cameras[0].Silences != 1 || h.Dropped[unreadable] == 0 || h.Alarms[CameraLeftOut] != 1 || h.UptimeS < 1 || h.FPS <= 0 {
		t.Errorf("with two of three: %+v", h)
	}
	h = health(t, kinds["health"], "a silent camera", right, func(h *message.HealthRecord) bool { return h.Cameras[1].Out == "silent for 2s" })
	if c := h.Cameras[1]; h.State != "tracking" || c.Silences != 1 || h.Time.Sub(*c.Heard) < 2*time.Second || h.Alarms[CameraLeftOut] != 2 || h.Cameras[2].Out != "" {
		t.Errorf("with one of three: %+v", h)
	}
	e.law("a law of one", right, cameras(1))
	health(t, kinds["health"], "all to be silent", func() {}, state("source_lost"))
	both()
	h = health(t, kinds["health"], "both again", both, func(h *message.HealthRecord) bool { return h.Cameras[1].Out == "" && h.Cameras[2].Out == "" })
	if h.Cameras[1].Silences != 1 || h.Cameras[2].Silences != 1 {
		t.Errorf("both again: %+v", h)
	}
	e.stop()
	if err := <-e.ended; err != nil {
		t.Error(err)
	}
	h = health(t, kinds["health"], "the end", func() {}, state("stopped"))
	if h.Problem != "" || h.FPS != 0 {
		t.Errorf("at the end: %+v", h)
	}
	told := events(t, kinds["event"])
	for text, level := range map[string]latent.Level{"absent: left out: silent for 2s": latent.Warning, "left: left out: silent for 2s": latent.Warning, "left: back in": latent.Info} {
		if told[text] != level {
			t.Errorf("%q is no event of level %s; there are %v", text, level, told)
		}
	}
}

// events returns the received events: level by text.
func events(t *testing.T, from *nats.Subscription) map[string]latent.Level {
	t.Helper()
	told := map[string]latent.Level{}
	for {
		m, err := from.NextMsg(100 * time.Millisecond)
		if err != nil {
			return told
		}
		r, err := message.Decode(latent.KindEvent, m.Data)
		if err != nil {
			t.Fatalf("%v: %s", err, m.Data)
		}
		e := r.(*message.EventRecord)
		if want := map[latent.Level]string{latent.Warning: CameraLeftOut, latent.Info: CameraBack}[e.Level]; e.Code != want {
			t.Errorf("an event of level %s has the code %s, expected %q", e.Level, e.Code, want)
		}
		told[e.Text] = e.Level
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestFailure: the last health states the error that ended a pool.
func TestFailure(t *testing.T) {
	t.Parallel()
	s := bustest.Start(t, "")
	nc, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	seen, err := nc.SubscribeSync("driftscope.local.all.health")
	if err != nil {
		t.Fatal(err)
	}
	c := Command{Name: "all", Streams: []string{"left", "right"}, NATS: s.URL(), Prefix: "driftscope", Site: "local", Stale: 60}
	ended := make(chan error, 1)
	go func() { ended <- c.run(t.Context(), full{}, io.Discard) }()
	h := health(t, seen, "the end", func() {
		if err := nc.Publish("driftscope.local.left.population", lineOf(t, "left", 1, 2, 0.1)); err != nil {
			t.Fatal(err)
		}
	}, func(h *message.HealthRecord) bool { return h.State == "stopped" })
	if err := <-ended; err == nil || h.Problem != err.Error() || !strings.Contains(h.Problem, "no space left") {
		t.Errorf("ended with %v, the last health says %q", err, h.Problem)
	}
}

// TestOverrun: records that found the queue full are counted as lost.
func TestOverrun(t *testing.T) {
	s := bustest.Start(t, "")
	nc, err := nats.Connect(s.URL(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // the test provokes a slow consumer
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	c := &Command{Name: "all", Streams: []string{"left", "right"}, Stale: 60}
	p := &pooling{members: newMembers(c, io.Discard), messages: make(chan *nats.Msg, 2), started: time.Now(), rated: time.Now()}
	of, err := nc.ChanSubscribe("left", p.messages)
	if err != nil {
		t.Fatal(err)
	}
	p.subscriptions = append(p.subscriptions, of)
	for range 5 {
		if err := nc.Publish("left", nil); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "what is lost", func() bool { return p.overrun() == 3 })
	if h := p.health(time.Now()); h.Queue != 2 || h.Frames != 3 || h.Dropped[queueFull] != 3 {
		t.Errorf("found %+v", h)
	}
}

// TestShippedUser: the user pool of configs/nats-server.conf may pool for its experiment. TestRights tests the forbidden requests (sinks/natsink).
func TestShippedUser(t *testing.T) {
	as := bustest.Shipped(t)
	dial := func(user string) *nats.Conn {
		nc, err := nats.Connect(as(user), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})) // the test provokes refusals
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	listen := func(nc *nats.Conn, subject string) *nats.Subscription {
		heard, err := nc.SubscribeSync(subject)
		if err == nil {
			err = nc.Flush()
		}
		if err != nil {
			t.Fatal(err)
		}
		return heard
	}
	program, viewer := dial("driftscope"), dial("viewer")
	kinds := map[string]*nats.Subscription{}
	for _, kind := range []string{"population", "health", "event"} {
		kinds[kind] = listen(viewer, "driftscope.local.plate."+kind)
	}
	begun := func(name string) (n *notes, end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		n, done := &notes{}, make(chan error, 1)
		c := Command{Name: name, Streams: []string{"left", "right"}, NATS: as("pool"), Prefix: "driftscope", Site: "local", Stale: 1}
		go func() { done <- c.run(ctx, io.Discard, n) }()
		return n, func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	left := func() {
		if err := program.Publish("driftscope.local.left.population", lineOf(t, "left", 1, 2, 0.1)); err != nil {
			t.Fatal(err)
		}
	}
	n, end := begun("plate")
	health(t, kinds["health"], "a law", left, func(h *message.HealthRecord) bool {
		return h.State == "tracking" && h.Cameras[1].Out == "silent for 1s"
	})
	end()
	health(t, kinds["health"], "the end", func() {}, func(h *message.HealthRecord) bool { return h.State == "stopped" })
	if _, err := kinds["population"].NextMsg(time.Second); err != nil || events(t, kinds["event"])["right: left out: silent for 1s"] != latent.Warning {
		t.Errorf("no law (%v), or no event came", err)
	}
	if strings.Contains(strings.ToLower(n.String()), "permissions violation") {
		t.Errorf("the server has refused something:\n%s", n)
	}

}

// TestServerAway: while the server is unreachable nothing is published, which is reported once. When it is back, health continues, with the cameras silent for
// that time.
func TestServerAway(t *testing.T) {
	t.Parallel()
	s := bustest.Start(t, "")
	nc, err := nats.Connect(s.URL(), nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	seen, err := nc.SubscribeSync("driftscope.local.all.health")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	n, ended := &notes{}, make(chan error, 1)
	c := Command{Name: "all", Streams: []string{"left", "right"}, NATS: s.URL(), Prefix: "driftscope", Site: "local", Stale: 2}
	go func() { ended <- c.run(ctx, io.Discard, n) }()
	left := func() { nc.Publish("driftscope.local.left.population", lineOf(t, "left", 1, 2, 0.1)) }
	before := health(t, seen, "a law", left, func(h *message.HealthRecord) bool { return h.State == "tracking" })
	s.Kill()
	until(t, "both cameras to be silent", func() bool { return strings.Contains(n.String(), "left: left out: silent for 2s") })
	s.Run()
	h := health(t, seen, "health again", func() {}, func(h *message.HealthRecord) bool { return h.State == "source_lost" })
	if h.UptimeS < before.UptimeS+2 || h.Cameras[0].Silences != 1 || h.Published < before.Published {
		t.Errorf("before %+v, after %+v", before, h)
	}
	health(t, seen, "a law again", left, func(h *message.HealthRecord) bool { return h.State == "tracking" })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if told := strings.Count(n.String(), "messages are lost until the server is back"); told != 1 {
		t.Errorf("told %d times that nothing is published:\n%s", told, n)
	}
}
