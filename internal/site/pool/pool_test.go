package pool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lineOf returns the encoded record of a stream: one state with D in µm²/s known to 5 %, and a pixel size in µm.
func lineOf(t testing.TB, stream string, seq uint64, d, pixel float64) []byte {
	t.Helper()
	px := latent.Range{D: d / (pixel * pixel), Low: d * 0.9 / (pixel * pixel), High: d * 1.1 / (pixel * pixel)}
	um := latent.Range{D: d, Low: d * 0.9, High: d * 1.1}
	p := &latent.Population{Seq: seq, Time: time.Unix(int64(seq), 0), Count: 10, Births: 20, Detected: 0.9, Tracks: 100, Steps: 2000, Px: px, UM: um, Law: &latent.PopulationLaw{
		Seq: seq, Tracks: 100, Steps: 2000, States: []latent.StateLaw{{Px: px, UM: um, Share: latent.Bounds{Value: 1, Low: 1, High: 1}}}, Says: "alike"}}
	var line []byte
	e := message.Encoder{Stream: stream}
	if err := e.Encode(p, func(_ latent.Kind, l []byte) error { line = bytes.Clone(l); return nil }); err != nil {
		t.Fatal(err)
	}
	return line
}

// notes collects lines for which a test waits.
type notes struct {
	mu   sync.Mutex
	text strings.Builder
}

func (n *notes) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

func (n *notes) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// until waits for a condition.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	suite.Until(t, true, what)
}

// experiment is a pool on a real server, with a publisher and a subscriber.
type experiment struct {
	t       *testing.T
	nc      *nats.Conn
	notes   *notes
	printed *bufio.Scanner
	laws    *nats.Subscription
	ended   chan error
	stop    context.CancelFunc
}

func begin(t *testing.T, c Command) *experiment {
	t.Helper()
	s := bustest.Start(t, "")
	nc, err := nats.Connect(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	laws, err := nc.SubscribeSync("driftscope.local.all.population")
	if err != nil {
		t.Fatal(err)
	}
	c.NATS, c.Prefix, c.Site, c.Name = s.URL(), "driftscope", "local", "all"
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	e := &experiment{t: t, nc: nc, notes: &notes{}, printed: bufio.NewScanner(in), laws: laws, ended: make(chan error, 1), stop: cancel}
	go func() {
		e.ended <- c.run(ctx, out, e.notes)
		out.Close()
	}()
	t.Cleanup(func() { cancel(); in.Close() })
	return e
}

func (e *experiment) publish(stream string, line []byte) {
	e.t.Helper()
	if err := e.nc.Publish("driftscope.local."+stream+".population", line); err != nil {
		e.t.Fatal(err)
	}
}

// law waits for a record of the experiment that satisfies holds, and calls say again and again.
func (e *experiment) law(what string, say func(), holds func(*message.PopulationRecord) bool) *message.PopulationRecord {
	e.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		say()
		m, err := e.laws.NextMsg(200 * time.Millisecond)
		if err != nil {
			continue
		}
		r, err := message.Decode(latent.KindPopulation, m.Data)
		if err != nil {
			e.t.Fatalf("%v: %s", err, m.Data)
		}
		if p := r.(*message.PopulationRecord); holds(p) {
			return p
		}
	}
	e.t.Fatalf("waited 20 s for %s; notes:\n%s", what, e.notes)
	return nil
}

func cameras(n int) func(*message.PopulationRecord) bool {
	return func(r *message.PopulationRecord) bool { return len(r.Law.Cameras) == n }
}

// TestPool: two streams on a real server, with invalid messages in between, give one law. A silent stream is left out and later included again.
func TestPool(t *testing.T) {
	t.Parallel()
	e := begin(t, Command{Streams: []string{"left", "right", "bare"}, Stale: 2})
	until(t, "junk of left", func() bool { // repeated, because messages before the subscription are lost
		e.publish("left", []byte(`{"v":1,"kind":"popu`))
		return strings.Contains(e.notes.String(), "driftscope.local.left.population: left out: population: not a driftscope message")
	})
	seq := uint64(0)
	right := func() {
		seq++
		e.publish("right", lineOf(t, "right", seq, 2, 0.1))
	}
	both := func() {
		e.publish("left", lineOf(t, "left", seq+1, 2, 0.2))
		e.publish("left", []byte(`{"v":1,"kind":"popu`))
		e.publish("left", []byte(`{"v":1,"kind":"population","stream":"left","law":{"state_px2_s":[1],"state_um2_s":[1e400]}}`))
		e.publish("left", lineOf(t, "foreign", seq+1, 7, 0.2))
		e.publish("other", lineOf(t, "other", seq+1, 7, 0.2))
		e.publish("bare", bytes.ReplaceAll(lineOf(t, "bare", seq+1, 7, 0.2), []byte("um2"), []byte("xx2")))
		right()
	}
	go func() {
		for e.printed.Scan() {
			fmt.Fprintln(e.notes, e.printed.Text())
		}
	}()
	r := e.law("a law of two", both, cameras(2))
	if r.Stream != "all" || r.Count != 20 || r.Births != 40 || r.Steps != 4000 || r.Law.Steps != 4000 || len(r.Law.UM) != 1 || r.Law.Share[0] != 1 {
		t.Errorf("found %+v, law %+v", r, r.Law)
	}
	one, two := math.Log(1.1/0.9), math.Log(r.Law.UMHigh[0]/r.Law.UMLow[0])
	if math.Abs(r.Law.UM[0]-2) > 0.02 || math.Abs(two/one*math.Sqrt2-1) > 0.01 { // the interval is D ± 10 %, not symmetric in ln D
		t.Errorf("D %g, an interval of %g where one has %g", r.Law.UM[0], two, one)
	}
	if float64(*r.UM) < 1.98 || float64(*r.UM) > 2.02 || !math.IsNaN(float64(r.Px)) || !math.IsNaN(r.Law.D[0]) || float64(*r.Law.Differ) != 0 || math.Abs(float64(r.Detected)-0.9) > 1e-9 {
		t.Errorf("found %+v, law %+v", r, r.Law)
	}
	r = e.law("a law of one", right, cameras(1))
	if r.Law.Cameras[0] != "right" || math.Abs(r.Law.D[0]-200) > 2 {
		t.Errorf("found %+v", r.Law)
	}
	e.law("a law of two again", both, cameras(2))
	until(t, "what was told", func() bool {
		for _, want := range []string{"left: left out: silent for 2s", "left: back in", "bare: left out: its pixel size is unknown",
			"all law 1: ", "D 2 (1."} {
			if !strings.Contains(e.notes.String(), want) {
				return false
			}
		}
		return true
	})
	if n := strings.Count(e.notes.String(), "left: left out: silent"); n != 1 {
		t.Errorf("told %d times that it is silent", n)
	}
	if n := strings.Count(e.notes.String(), "not a driftscope message"); n > 3 {
		t.Errorf("told %d times of junk", n)
	}
	e.stop()
	if err := <-e.ended; err != nil {
		t.Error(err)
	}
}

// TestEveryone: '*' includes every stream of the site except the experiment itself and other experiments. --json prints the published records.
func TestEveryone(t *testing.T) {
	t.Parallel()
	e := begin(t, Command{Streams: []string{"*"}, Stale: 60, JSON: true})
	first := make(chan []byte, 1)
	go func() {
		for e.printed.Scan() {
			select {
			case first <- bytes.Clone(e.printed.Bytes()):
			default:
			}
		}
	}()
	seen, err := e.nc.SubscribeSync("driftscope.local.all.health")
	if err != nil {
		t.Fatal(err)
	}
	other := recordOf("other", []*member{{camera: mustRead(t, "left", lineOf(t, "left", 1, 2, 0.1))}})
	pooled, err := json.Marshal(other)
	if err != nil {
		t.Fatal(err)
	}
	r := e.law("a law of two", func() {
		e.publish("all", lineOf(t, "all", 1, 7, 0.1))
		e.publish("other", pooled)
		e.publish("left", lineOf(t, "left", 1, 2, 0.1))
		e.publish("right", lineOf(t, "right", 1, 2, 0.1))
	}, func(r *message.PopulationRecord) bool { return r.Law != nil && len(r.Law.Cameras) == 2 })
	if fmt.Sprint(r.Law.Cameras) != "[left right]" || math.Abs(float64(r.Px)-200) > 2 {
		t.Errorf("found %+v", r)
	}
	if _, err := message.Decode(latent.KindPopulation, <-first); err != nil {
		t.Error(err)
	}
	until(t, "the other experiment", func() bool {
		return strings.Contains(e.notes.String(), "other: left out: its law is already pooled from several cameras")
	})
	h := health(t, seen, "health without the other experiment", func() {}, func(h *message.HealthRecord) bool { return h.Dropped[leftOut] > 0 })
	if len(h.Cameras) != 2 || h.Cameras[0].Stream != "left" || h.Cameras[1].Stream != "right" || len(h.Alarms) != 0 {
		t.Errorf("another experiment is missed as a camera: %+v", h)
	}
	e.stop()
	if err := <-e.ended; err != nil {
		t.Error(err)
	}
}

func mustRead(t testing.TB, stream string, line []byte) camera {
	t.Helper()
	c, err := read(stream, line)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestMany: a client that publishes under many names cannot exceed the limit on streams in memory.
func TestMany(t *testing.T) {
	n := &notes{}
	m := newMembers(&Command{Name: "all", Streams: []string{"*"}, Stale: 60}, n)
	now := time.Now()
	for i := range 1000 {
		stream := fmt.Sprint("s", i)
		m.take("driftscope.local."+stream+".population", lineOf(t, stream, 1, 2, 0.1), now)
	}
	m.take("driftscope.local.a$b.population", lineOf(t, "a$b", 1, 2, 0.1), now)
	if len(m.all) != 32 || !strings.Contains(n.String(), "there are 32 streams already") || strings.Count(n.String(), "\n") != 2 {
		t.Errorf("%d streams, told\n%s", len(m.all), n)
	}
	taken := m.counters
	if taken.taken != 1001 || taken.tracked != 32 || taken.dropped[noRoom] != 968 || taken.dropped[unreadable] != 1 {
		t.Errorf("counted %+v", taken)
	}
	m.all["s7"].heard = now.Add(-time.Second)
	now = now.Add(time.Minute)
	m.expire(now)
	if len(m.all) != 32 || len(m.in()) != 0 {
		t.Errorf("%d streams, %d of them in, expected all and none", len(m.all), len(m.in()))
	}
	m.take("driftscope.local.late.population", lineOf(t, "late", 1, 2, 0.1), now)
	if m.all["late"] == nil || m.all["s7"] != nil || len(m.all) != 32 || len(m.in()) != 1 {
		t.Errorf("%d streams, %d of them in, expected the late one in the place of the one that is silent longest", len(m.all), len(m.in()))
	}
}

// TestMistakes: each mistake is a usage error that states what to give instead.
func TestMistakes(t *testing.T) {
	for want, change := range map[string]func(*Command){
		"embedded is the server inside a run":            func(c *Command) { c.NATS = bus.Embedded },
		"--stale: found 0, expected a number of seconds": func(c *Command) { c.Stale = 0 },
		"--stale: found NaN":                             func(c *Command) { c.Stale = math.NaN() },
		`nats stream: found "a b"`:                       func(c *Command) { c.Name = "a b" },
		`nats stream: found "b.c"`:                       func(c *Command) { c.Streams[1] = "b.c" },
		"found * beside other streams":                   func(c *Command) { c.Streams[1] = "*" },
		"left is the experiment and one of its":          func(c *Command) { c.Name = "left" },
		"stream left is given twice":                     func(c *Command) { c.Streams[1] = "left" },
		"found 1 stream, expected 2 to 32":               func(c *Command) { c.Streams = c.Streams[:1] },
		"found 0 stream, expected 2 to 32":               func(c *Command) { c.Streams = nil },
		"nats://127.0.0.1:1: no NATS server ans":         func(c *Command) {},
	} {
		c := Command{Name: "all", Streams: []string{"left", "right"}, NATS: "nats://127.0.0.1:1", Prefix: "driftscope", Site: "local", Stale: 60}
		change(&c)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := c.run(ctx, io.Discard, io.Discard)
		cancel()
		status := 2
		if strings.Contains(want, "no NATS server") {
			status = 1
		}
		if err == nil || !strings.Contains(err.Error(), want) || console.Status(err) != status {
			t.Errorf("found %v (%d), expected %q (%d)", err, console.Status(err), want, status)
		}
	}
}

// TestBegunAnew: a restarted run has no law at first, and is left out until it has one.
func TestBegunAnew(t *testing.T) {
	n := &notes{}
	m := newMembers(&Command{Name: "all", Streams: []string{"left", "right"}, Stale: 60}, n)
	hear := func(line []byte) (news, law bool) {
		now := time.Now()
		m.take("driftscope.local.left.population", line, now)
		m.tell(now)
		return m.fresh()
	}
	bare := []byte(`{"v":1,"kind":"population","stream":"left","seq":1}`)
	for i, c := range []struct {
		line      []byte
		news, law bool
		in        int
	}{{bare, false, false, 0}, {lineOf(t, "left", 5, 2, 0.1), true, true, 1}, {lineOf(t, "left", 5, 2, 0.1), true, false, 1}, {bare, true, true, 0}, {bare, false, false, 0}, {lineOf(t, "left", 6, 2, 0.1), true, true, 1}} {
		if news, law := hear(c.line); news != c.news || law != c.law || len(m.in()) != c.in {
			t.Errorf("record %d: news %v, of the law %v, %d in, expected %+v", i, news, law, len(m.in()), c)
		}
	}
	if n.String() != "left: left out: it has no law yet\nleft: back in\n" {
		t.Errorf("told\n%s", n)
	}
}

// TestUnlike: more states than fit into a message are reported, and not published.
func TestUnlike(t *testing.T) {
	n := &notes{}
	m := newMembers(&Command{Name: "all", Streams: []string{"*"}, Stale: 60}, n)
	for i := range 32 {
		stream := fmt.Sprint("s", i)
		c := mustRead(t, stream, lineOf(t, stream, 1, 2, 0.1))
		c.States = nil
		for k := range 4 {
			d := math.Exp(float64(4*i+k)*0.4 - 30)
			s := mustRead(t, stream, lineOf(t, stream, 1, d, 0.1)).States[0]
			s.Share.Value, s.Share.Low, s.Share.High = 0.25, 0.2, 0.3
			s.D.Low, s.D.High = d*0.99, d*1.01
			c.States = append(c.States, s)
		}
		c.Steps = 1_000_000
		m.all[stream] = &member{camera: c, known: true}
	}
	m.news = true
	p := &pooling{members: m, name: "all", out: io.Discard}
	if err := p.publish(); err != nil || !strings.Contains(n.String(), "are these cameras of one experiment?") {
		t.Errorf("found %v, told %s", err, n)
	}
}

// FuzzRead: every accepted record of a camera pools to a valid record.
func FuzzRead(f *testing.F) {
	line := lineOf(f, "left", 3, 2, 0.1)
	f.Add(line)
	f.Add(bytes.ReplaceAll(line, []byte(`"state_um2_s_low":[1.8]`), []byte(`"state_um2_s_low":[0]`)))
	f.Add([]byte(`{"v":1,"kind":"population","stream":"left","law":{"state_px2_s":[null,1],"state_um2_s":[1,2],"share":[0.5]}}`))
	right := &member{camera: mustRead(f, "right", lineOf(f, "right", 1, 3, 0.2)), known: true}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := read("left", data)
		if err != nil || c.refused != "" || c.law == 0 {
			return
		}
		r := recordOf("all", []*member{{camera: c, known: true}, right})
		text, err := json.Marshal(r)
		if err == nil {
			_, err = message.Decode(latent.KindPopulation, text)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	})
}
