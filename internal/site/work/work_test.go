package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/configs"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/job/jobtest"
	"driftscope/internal/job/reach"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
	"driftscope/internal/site"
	"driftscope/internal/suite"
	"driftscope/sinks/message"
)

// ttl is the TTL of the tests' leases, as short as a busy machine allows.
const ttl = 2 * time.Second

// patience is the time limit of any wait, for a busy machine under the race detector.
const patience = 3 * time.Minute

// place is a site with its own server.
type place struct {
	t  *testing.T
	at string
	of *site.Site
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, at: bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}\nmax_payload: 8MB", t.TempDir())).URL()}
	s, err := site.Open(t.Context(), p.connect(), site.Options{TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	p.of = s
	return p
}

func (p *place) connect() *bus.Conn {
	p.t.Helper()
	conn, err := bus.Connect(p.t.Context(), bus.Options{URL: p.at})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { conn.Close() })
	return conn
}

// add adds a desired stream with stored frames.
func (p *place) add(name, more string) {
	p.t.Helper()
	text := fmt.Sprintf("stream: %s\nsource: {nats: {subject: camera.%s}}\nframes: {durable: true}\nmodel: embedded:molecule\nonline: {checkpoint_every: 1s}\n%s", name, name, more)
	if _, err := p.of.Add(p.t.Context(), site.Stream{Name: name, Config: text, Cores: 1}); err != nil {
		p.t.Fatal(err)
	}
}

// options returns the options of a connection to the server.
func (p *place) options() config.NATS {
	n := config.Default().NATS
	n.URL = p.at
	return n
}

// work runs a worker until stop is called, which acts like Ctrl-C.
func (p *place) work(name string, labels ...string) (w *Worker, stop func()) {
	p.t.Helper()
	allow, err := reach.Allow(nil, stream.Makers())
	if err != nil {
		p.t.Fatal(err)
	}
	o := Options{NATS: p.options(), Name: name, Cores: 8, Labels: labels, Allow: allow, Store: p.t.TempDir(), Replicas: 1, TTL: ttl, Version: "test"}
	w, err = New(p.t.Context(), p.connect(), o)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	var stopped bool
	stop = func() {
		p.t.Helper()
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			p.t.Errorf("worker %s ended with %v", name, err)
		}
		w.Close()
	}
	p.t.Cleanup(stop)
	return w, stop
}

// held waits until the leases have the wanted holders, by stream.
func (p *place) held(want map[string]string) {
	p.t.Helper()
	found := map[string]string{}
	suite.UntilWithin(p.t, patience, func() bool {
		clear(found)
		for _, l := range p.of.Leases() {
			if l.State == site.Taken {
				found[l.Stream] = l.Record.Worker
			}
		}
		return maps.Equal(found, want)
	}, "held are", found, "expected", want)
}

// TestWorkers: a worker takes the desired streams. A second worker gets its part, and all streams when the first hands over. A stream restarts when its
// configuration changes, and ends when it is removed. Every frame has one result.
func TestWorkers(t *testing.T) {
	p := newPlace(t)
	films := map[string]*jobtest.KeptFilm{}
	for _, name := range []string{"one", "two"} {
		films[name] = jobtest.NewKeptFilm(t, p.at, "camera."+name, 1)
		films[name].Next(100)
		p.add(name, "")
	}
	told, err := p.connect().NATS().SubscribeSync("driftscope.local.hall-1.worker")
	if err != nil {
		t.Fatal(err)
	}
	_, stop := p.work("hall-1")
	p.held(map[string]string{"one": "hall-1", "two": "hall-1"})
	for name, f := range films {
		jobtest.Results(t, f.Conn, name, 100)
	}
	second, _ := p.work("hall-2")
	var passed string
	suite.UntilWithin(t, patience, func() bool {
		for _, l := range p.of.Leases() {
			if l.State == site.Taken && l.Record.Worker == "hall-2" {
				passed = l.Stream
			}
		}
		return passed != ""
	}, "the second worker got nothing")
	for _, f := range films {
		f.Next(100)
	}
	for name, f := range films {
		jobtest.Results(t, f.Conn, name, 200)
	}
	stop()
	if r := last(t, told); !r.Draining || len(r.Streams) != 0 || r.Taken != 0 {
		t.Errorf("the last word of a worker that has handed over is %+v", r)
	}
	p.held(map[string]string{"one": "hall-2", "two": "hall-2"})
	for name, f := range films {
		f.Next(100)
		jobtest.Once(t, name, jobtest.Results(t, f.Conn, name, 300), 300)
	}
	moved := map[string]bool{}
	for name, f := range films {
		for _, e := range jobtest.Kept[*message.EventRecord](t, f.Conn, name, latent.KindEvent) {
			if e.Code != "taken_over" {
				continue
			}
			if moved[name] {
				t.Errorf("stream %s was taken over twice: %s", name, e.Text)
			}
			moved[name] = true
		}
	}
	if !moved["one"] || !moved["two"] {
		t.Errorf("taken over were %v, expected both", moved)
	}

	changed, err := p.of.Stream(t.Context(), passed)
	if err != nil {
		t.Fatal(err)
	}
	changed.Config = strings.Replace(changed.Config, "checkpoint_every: 1s", "checkpoint_every: 1s, forecast_s: [0.1]", 1)
	if _, err := p.of.Replace(t.Context(), changed); err != nil {
		t.Fatal(err)
	}
	f := films[passed]
	suite.UntilWithin(t, patience, func() bool {
		f.Next(1)
		all := jobtest.Results(t, f.Conn, passed, 300)
		if last := all[len(all)-1]; len(last.Forecast) == 0 {
			return false
		}
		jobtest.Once(t, passed, all, len(all))
		return true
	}, "the stream does not run by its new configuration")
	if err := p.of.Remove(t.Context(), passed); err != nil {
		t.Fatal(err)
	}
	left := map[string]string{"one": "hall-2", "two": "hall-2"}
	delete(left, passed)
	p.held(left)
	if r := second.record(time.Now()); len(r.Streams) != 1 || r.Streams[0].State != running || r.Taken != 1 {
		t.Errorf("the worker says %+v", r)
	}
}

// last returns a worker's latest record.
func last(t *testing.T, heard *nats.Subscription) *message.WorkerRecord {
	t.Helper()
	var data []byte
	for m, err := heard.NextMsg(10 * time.Second); err == nil; m, err = heard.NextMsg(time.Second) {
		data = m.Data
	}
	r, err := message.Decode(latent.KindWorker, data)
	if err != nil {
		t.Fatal(err)
	}
	return r.(*message.WorkerRecord)
}

// TestWorkerTells: a stream that no worker can run is reported with the reason. A stream with an unusable configuration is not tried on other workers.
func TestWorkerTells(t *testing.T) {
	p := newPlace(t)
	heard, err := p.connect().NATS().SubscribeSync("driftscope.local.hall-1.worker")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []site.Stream{
		{Name: "far", Config: "stream: far\nsource: sim\n", Cores: 1, Labels: []string{"camera-7"}},
		{Name: "wrong", Config: "stream: wrong\nsource: {tiff: {path: nowhere/film.tif}}\n", Cores: 1},
		{Name: "secret", Config: "stream: secret\nsource: {gst: {pipeline: \"rtspsrc location=rtsp://${secret:no-such}@127.0.0.1/ ! decodebin\"}}\n", Cores: 1},
	} {
		if _, err := p.of.Add(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	p.work("hall-1")
	var r message.Record
	for end := time.Now().Add(patience); time.Now().Before(end); {
		m, err := heard.NextMsg(10 * time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if r, err = message.Decode(latent.KindWorker, m.Data); err != nil {
			t.Fatal(err)
		}
		w := r.(*message.WorkerRecord)
		if len(w.Streams) == 2 && w.Streams[0].State == failed && w.Streams[1].State == failed {
			if len(w.Waiting) != 1 || w.Waiting[0] != (message.WaitingRecord{Name: "far", Why: "no worker has label camera-7"}) {
				t.Errorf("waiting are %+v", w.Waiting)
			}
			if !strings.Contains(w.Streams[0].Problem, "DRIFTSCOPE_SECRET_NO_SUCH") || !strings.Contains(w.Streams[1].Problem, "wrong/files/nowhere/film.tif") {
				t.Errorf("problems are %q and %q", w.Streams[0].Problem, w.Streams[1].Problem)
			}
			return
		}
	}
	t.Errorf("the worker said %+v last", r)
}

// TestSecret: a secret comes from the environment or from systemd's folder, and from nowhere else.
func TestSecret(t *testing.T) {
	t.Setenv("DRIFTSCOPE_SECRET_CAMERA_1", "hunter2")
	if s, err := secret("camera-1"); s != "hunter2" || err != nil {
		t.Errorf("found %q, %v", s, err)
	}
	for _, name := range []string{"HOME", "none"} {
		if s, err := secret(name); err == nil {
			t.Errorf("%s: found %q", name, s)
		}
	}
}

// TestSameName: a worker waits for the record of a killed worker of its name to expire, and is refused if another worker of its name runs.
func TestSameName(t *testing.T) {
	p := newPlace(t)
	other, err := site.Open(t.Context(), p.connect(), site.Options{TTL: ttl, Worker: "hall-1", Version: "older"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Announce(t.Context(), site.Worker{Cores: 1, Version: "older"}); err != nil {
		t.Fatal(err)
	}
	w, _ := p.work("hall-1") // allowed once the record has not changed for a TTL
	suite.UntilWithin(t, patience, func() bool { all := p.of.Workers(); return len(all) == 1 && all[0].ID == w.leases.ID() }, "the worker was not let in after the one before had died")
	o := w.o
	second, err := New(t.Context(), p.connect(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := second.Run(t.Context()); !errors.Is(err, site.ErrName) {
		t.Errorf("found %v beside a worker of that name", err)
	}
}

// TestNameTaken: a worker that was disconnected finds its name taken by another process, hands over and ends, because two of one name would share one part
// of the plan.
func TestNameTaken(t *testing.T) {
	p := newPlace(t)
	allow, err := reach.Allow(nil, stream.Makers())
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(t.Context(), p.connect(), Options{NATS: p.options(), Name: "hall-1", Cores: 8, Allow: allow, Store: t.TempDir(), Replicas: 1, TTL: ttl, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	done := make(chan error, 1)
	go func() { done <- w.Run(t.Context()) }()
	p.add("bead", "")
	p.held(map[string]string{"bead": "hall-1"})
	js, err := jetstream.New(p.connect().NATS())
	if err != nil {
		t.Fatal(err)
	}
	workers, err := js.KeyValue(t.Context(), "driftscope_local_workers")
	if err == nil {
		_, err = workers.Put(t.Context(), "hall-1", []byte(`{"name":"hall-1","id":"OTHER","cores":8}`))
	}
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if !errors.Is(err, site.ErrName) {
			t.Errorf("ended with %v, expected that the name is another's", err)
		}
	case <-time.After(patience):
		t.Fatal("the worker goes on beside another of its name")
	}
	p.held(map[string]string{})
	if left, err := workers.Get(t.Context(), "hall-1"); err != nil || !strings.Contains(string(left.Value()), "OTHER") {
		t.Errorf("the other's record is %v (%v)", left, err)
	}
}

// TestOptions: invalid options are refused, and missing ones get the machine's values.
func TestOptions(t *testing.T) {
	usual := Command{NATS: "nats://127.0.0.1:4222", Prefix: "driftscope", Site: "local", TTL: 5 * time.Second, Films: 1}
	o, err := usual.options()
	if err != nil || o.Name == "" || o.Cores < 1 || o.Store == "" || o.Version == "" {
		t.Errorf("found %+v, %v", o, err)
	}
	for says, change := range map[string]func(*Command){
		"--nats: found embedded":  func(c *Command) { c.NATS = "embedded" },
		"--name":                  func(c *Command) { c.Name = "a b" },
		"--cores: found -1":       func(c *Command) { c.Cores = -1 },
		"--ttl: found 1ms":        func(c *Command) { c.TTL = time.Millisecond },
		"--allow: found \"tiff\"": func(c *Command) { c.Allow = []string{"tiff"} },
		"--films: found -1":       func(c *Command) { c.Films = -1 },
	} {
		c := usual
		change(&c)
		if err := c.Run(t.Context()); err == nil || console.Status(err) != 2 || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: found %v", says, err)
		}
	}
	away := usual
	away.NATS = "nats://127.0.0.1:1"
	if err := away.Run(t.Context()); err == nil || console.Status(err) != 1 || !strings.Contains(err.Error(), "start the site's server") {
		t.Errorf("found %v without a server", err)
	}
}

// TestModelComes: a stream whose model is not on the server yet is tried again, and runs once the model is there.
func TestModelComes(t *testing.T) {
	p := newPlace(t)
	jobtest.NewKeptFilm(t, p.at, "camera.late", 1).Next(1)
	text := "stream: late\nsource: {nats: {subject: camera.late}}\nframes: {durable: true}\nmodel: nats:spot\n"
	if _, err := p.of.Add(t.Context(), site.Stream{Name: "late", Config: text, Cores: 1}); err != nil {
		t.Fatal(err)
	}
	w, _ := p.work("hall-1")
	is := func(want string) {
		t.Helper()
		var r *message.WorkerRecord
		suite.UntilWithin(t, patience, func() bool { r = w.record(time.Now()); return len(r.Streams) == 1 && r.Streams[0].State == want }, "expected", want)
	}
	is(failed)
	models, err := p.connect().Models()
	if err != nil {
		t.Fatal(err)
	}
	model, err := configs.Model("molecule")
	if err != nil {
		t.Fatal(err)
	}
	if err := models.Put(t.Context(), "spot", "", model); err != nil {
		t.Fatal(err)
	}
	is(running)
}

// TestReading: a NATS source without a server uses the worker's server and credentials.
func TestReading(t *testing.T) {
	o := Options{NATS: config.Default().NATS}
	o.NATS.URL, o.NATS.Creds, o.NATS.CA = "tls://server:4222", "worker.creds", "ca.pem"
	w := &Worker{o: o}
	for _, c := range []struct{ source, want string }{
		{"{nats: {subject: camera.bead}}", "map[ca:ca.pem credentials:worker.creds subject:camera.bead url:tls://server:4222]"},
		{"{nats: {subject: camera.bead, url: 'nats://scope:4222'}}", "map[subject:camera.bead url:nats://scope:4222]"},
	} {
		cfg, err := config.Parse("bead", []byte("stream: bead\nsource: "+c.source+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		source, err := w.reading(cfg.Source)
		if got := fmt.Sprint(source.Options()); err != nil || got != c.want {
			t.Errorf("%s reads %s (%v), expected %s", c.source, got, err, c.want)
		}
	}
}
