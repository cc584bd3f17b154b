package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// TestAsRun: a result equals the file from run --out, except for health, events and latencies.
func TestAsRun(t *testing.T) {
	suite.Long(t)
	for name, c := range map[string]*Command{"model": {Model: "embedded:molecule"}, "objects": {Objects: true}} {
		t.Run(name, func(t *testing.T) {
			folder, out := scenes(t, 1, 20), t.TempDir()
			c.Films, c.Out, c.Format, c.Prefix, c.Site, c.Room, c.Replicas, c.AckWait, c.DT = []string{folder}, out, "jsonl", "driftscope", "local", 1, 1, ackWait, 0.02
			// The child is this test's own binary, which knows the command film.
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "run.jsonl")
			cfg, err := stream.Implied(filepath.Join(folder, "film0"), 0.02, 0)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Model, cfg.Objects.Enabled, cfg.NATS.URL, cfg.Dashboard.Address = c.Model, c.Objects, config.NATSOff, config.DashboardOff
			if cfg.Sinks, err = sinksOf(path, "", ".jsonl"); err != nil {
				t.Fatal(err)
			}
			run, err := stream.Assemble(t.Context(), []config.Config{cfg}, nil, false)
			if err != nil {
				t.Fatal(err)
			}
			defer run.Disconnect()
			if err := run.Run(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			var want bytes.Buffer
			if _, err := timeless(&want, bytes.NewReader(suite.Content(t, filepath.Dir(path), "run.jsonl"))); err != nil {
				t.Fatal(err)
			}
			if got := suite.Content(t, out, "film0.jsonl"); want.Len() < 20*100 || !bytes.Equal(got, want.Bytes()) {
				t.Errorf("%d bytes, expected the %d of run", len(got), want.Len())
			}
		})
	}
}

// TestTables: with --objects a result is a table. The same film under two paths has two results. A changed or removed result is made again, the others
// are not.
func TestTables(t *testing.T) {
	folder, out := fields(t, 2, 30), t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "inner", "film0"), os.DirFS(filepath.Join(folder, "film0"))); err != nil {
		t.Fatal(err)
	}
	c := Command{Films: []string{folder}, Out: out, Format: "csv", Objects: true, Prefix: "driftscope", Site: "local", Room: 1, Replicas: 1, AckWait: ackWait, Slots: 2}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := suite.Content(t, out, "film0.csv")
	if !bytes.HasPrefix(first, []byte("frame,")) && !bytes.Contains(first[:200], []byte("particle")) || !bytes.Equal(first, suite.Content(t, out, "inner/film0.csv")) {
		t.Errorf("%.200q", first)
	}
	kept, err := os.Stat(filepath.Join(out, "film1.csv"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, out, "film0.csv", "spoilt")
	if err := os.Remove(filepath.Join(out, "inner", "film0.csv")); err != nil {
		t.Fatal(err)
	}
	suite.LeaveUnfinished(t, filepath.Join(out, "film0.csv"))
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(filepath.Join(out, "film1.csv"))
	if err != nil || !os.SameFile(kept, now) {
		t.Errorf("a result that was there was made again: %v", err)
	}
	if !bytes.Equal(first, suite.Content(t, out, "film0.csv")) || !bytes.Equal(first, suite.Content(t, out, "inner/film0.csv")) {
		t.Error("what was spoilt or removed was not made again")
	}
	names, _ := filepath.Glob(filepath.Join(out, "*"))
	hidden, _ := filepath.Glob(filepath.Join(out, ".*"))
	if len(names) != 4 || len(hidden) != 0 {
		t.Errorf("found %v %v", names, hidden)
	}
}

// TestOnServer: after --no-wait a later command fetches the results and retries a failed film. Films of --shared are read from their paths.
func TestOnServer(t *testing.T) {
	conn, folder := server(t), scenes(t, 2, 5)
	command := func(out string, more ...func(*Command)) *Command {
		c := &Command{Films: []string{folder}, Model: "embedded:molecule", Out: out, Format: "jsonl", URL: conn.URL(), Prefix: "driftscope", Site: "local", Room: 1, Replicas: 1, AckWait: ackWait}
		for _, m := range more {
			m(c)
		}
		return c
	}
	out, shared := t.TempDir(), t.TempDir()
	if err := command(out, func(c *Command) { c.NoWait = true }).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	temp, err := filepath.Rel(here, t.TempDir()) // relative to this folder, because the child that tracks a film works in another one
	if err != nil {
		t.Fatal(err)
	}
	w := &Worker{Conn: conn, Name: "one", Temp: temp}
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	defer func() { stop(); <-ended }()
	put(t, folder, "torn.tif", "II*\x00no film")
	for range 2 {
		if err := command(out).Run(t.Context()); err == nil || console.Status(err) != 1 || !strings.Contains(err.Error(), "1 of 3 films failed") {
			t.Errorf("%v", err)
		}
		if n := leftBehind(t, conn, out); n != 0 {
			t.Errorf("%d films are still on the server", n)
		}
	}
	if err := command(shared, func(c *Command) {
		c.Shared, c.Name, c.Films = true, "other", []string{filepath.Join(folder, "film0"), filepath.Join(folder, "film1")}
	}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	same(t, shared, out, 2)
}

// leftBehind counts the films in a batch's store, and adds one that a killed client failed to remove.
func leftBehind(t *testing.T, conn *bus.Conn, out string) (films int) {
	t.Helper()
	o, err := open(t.Context(), conn, 1)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := o.records.Keys(t.Context())
	if err != nil || len(keys) == 0 {
		t.Fatalf("%d records, %v", len(keys), err)
	}
	batch, _, _ := strings.Cut(keys[0], ".")
	store, err := o.objects(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if strings.HasPrefix(i.Name, "film/") {
			films++
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "batch.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		if len(e.Failed) == 0 {
			if _, err := store.PutBytes(t.Context(), filmObject(e.Digest), []byte("a film")); err != nil {
				t.Fatal(err)
			}
			return films
		}
	}
	t.Fatal("no film of the batch is told to be done")
	return films
}

// TestFind: a folder is a film or contains films. Other entries are reported.
func TestFind(t *testing.T) {
	one := scenes(t, 2, 2)
	put(t, one, "notes.txt", "no film")
	put(t, one, "movie.avi", "RIFF    AVI ")
	put(t, one, "movie.mp4", "    ftyp")
	put(t, one, "z.h5", "\x89HDF\r\n\x1a\n")
	put(t, one, ".hidden.avi", "RIFF    AVI ")
	if err := os.MkdirAll(filepath.Join(one, "results", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(one, "results", "deep"), "old.avi", "RIFF    AVI ")
	name := func(films []film) (names []string) {
		for _, f := range films {
			names = append(names, f.name+" "+f.kind)
		}
		slices.Sort(names)
		return names
	}
	films, passed, err := find([]string{one}, filepath.Join(one, "results"))
	if want := []string{"film0 directory", "film1 directory", "movie.avi video", "movie.mp4 video", "z hdf5"}; err != nil || !slices.Equal(name(films), want) || len(passed) != 1 {
		t.Errorf("%v, passed over %v, %v, expected %v", name(films), passed, err, want)
	}
	films, passed, err = find([]string{filepath.Join(one, "film1"), filepath.Join(one, "film1"), filepath.Join(one, "notes.txt"), one}, t.TempDir())
	if want := []string{"film0 directory", "film1 directory", "movie.avi video", "movie.mp4 video", "results/deep/old video", "z hdf5"}; err != nil || !slices.Equal(name(films), want) || len(passed) != 2 {
		t.Errorf("%v, passed over %v, %v, expected %v", name(films), passed, err, want)
	}
	for _, wrong := range [][]string{{filepath.Join(one, "none.tif")}, {"sim:molecule"}, {filepath.Join(one, "notes.txt")}, {t.TempDir()}} {
		if films, _, err := find(wrong, t.TempDir()); err == nil {
			t.Errorf("%v: found %v", wrong, films)
		}
	}
}

// TestFilesOfZarr: the metadata of a store are sent with it, although their names begin with a dot. Other hidden files of a film are not sent.
func TestFilesOfZarr(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{".zattrs", "0/.zarray", "0/0/0", ".cache/x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, folder, name, "{}")
	}
	for kind, want := range map[string][]string{"zarr": {".zattrs", "0/.zarray", "0/0/0"}, "ndtiff": {"0/0/0"}} {
		f := film{path: folder, kind: kind}
		names, err := f.files()
		if err != nil || !slices.Equal(names, want) {
			t.Errorf("%s: %v, %v; %v expected", kind, names, err, want)
		}
	}
}

// TestCheck: invalid options are usage errors, reported before anything is opened.
func TestCheck(t *testing.T) {
	good := Command{Films: []string{"a"}, Format: "jsonl", Room: 1, Replicas: 1, AckWait: ackWait}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Command){
		"no films":         func(c *Command) { c.Films = nil },
		"worker and films": func(c *Command) { c.Work, c.URL = true, "nats://x" },
		"worker alone":     func(c *Command) { c.Work, c.Films = true, nil },
		"local and server": func(c *Command) { c.Local, c.URL = true, "nats://x" },
		"embedded":         func(c *Command) { c.URL = "embedded" },
		"nobody waits":     func(c *Command) { c.NoWait = true },
		"table of a scene": func(c *Command) { c.Format = "csv" },
		"slots":            func(c *Command) { c.Slots = -1 },
		"name":             func(c *Command) { c.Name = "a b" },
	} {
		c := good
		change(&c)
		if err := c.Run(t.Context()); console.Status(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestBase: settings of a configuration apply to every film, except those of one film or one machine.
func TestBase(t *testing.T) {
	path := put(t, t.TempDir(), "base.yaml", "stream: other\nsource: {tiff: {path: /x.tif, dt: 0.5, channel: 2, follow: true}}\nonline: {seed: 7, state: /law}\nrecord: {path: /copies}\nsinks: [{csv: {path: /x}}]\nmodel: embedded:molecule\n")
	c := Command{Config: path, Format: "jsonl"}
	base, err := c.base()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := c.of(base, &film{path: "/data/cell 3.tif", kind: "tiff"})
	if err != nil {
		t.Fatal(err)
	}
	options := cfg.Source.Options()
	if _, grows := options["follow"]; grows || options["path"] != nil || options["dt"] == nil || options["channel"] == nil || cfg.Stream != "cell-3" || cfg.Online.Seed != 7 || cfg.Online.State != "" || cfg.Record.Path != "" || len(cfg.Sinks) > 0 || base.Model != "embedded:molecule" {
		t.Errorf("%+v, source %v", cfg, options)
	}
	c.FPS = 4
	if cfg, err = c.of(base, &film{path: "/a.avi", kind: "video"}); err != nil || len(cfg.Source.Options()) != 1 {
		t.Errorf("%v, %v", cfg.Source.Options(), err)
	}
	c.DT = 1
	if _, err := c.of(base, &film{path: "/a.avi", kind: "video"}); console.Status(err) != 2 {
		t.Error(err)
	}
}

// TestTimeless: health and events go into the account, latencies are set to 0, all else is unchanged.
func TestTimeless(t *testing.T) {
	lines := `{"v":1,"kind":"latent","stream":"a","z":[1],"latency_ms":4.66e-05,"nis":0}
{"v":1,"kind":"trigger","name":"x","latency_ms":7}
{"v":1,"kind":"event","seq":3,"code":"bleached","text":"light fades"}
{"v":1,"kind":"event","seq":4,"code":"stream_ended","text":"the stream ended"}
{"v":1,"kind":"health","frames_in":5,"frames_tracked":4,"frames_dropped":{"torn":1},"alarms":{"bleached":1}}
`
	want := `{"v":1,"kind":"latent","stream":"a","z":[1],"latency_ms":0,"nis":0}
{"v":1,"kind":"trigger","name":"x","latency_ms":0}
`
	var got bytes.Buffer
	a, err := timeless(&got, strings.NewReader(lines))
	if err != nil || got.String() != want {
		t.Errorf("%v:\n%s", err, got.String())
	}
	if a.In != 5 || a.Tracked != 4 || a.Dropped["torn"] != 1 || a.Alarms["bleached"] != 1 || !slices.Equal(a.Events, []string{"frame 3, bleached: light fades"}) {
		t.Errorf("%+v", a)
	}
	many, err := timeless(&got, strings.NewReader(strings.Repeat(strings.Split(lines, "\n")[2]+"\n", maxEvents+3)))
	if err != nil || len(many.Events) != maxEvents || many.More != 3 {
		t.Errorf("%d and %d more, %v", len(many.Events), many.More, err)
	}
	if _, err := timeless(&got, strings.NewReader("frame,z\n")); err == nil {
		t.Error("a table was taken for messages")
	}
}

// TestLedger: one batch at a time writes into a folder. An error names an invalid line.
func TestLedger(t *testing.T) {
	folder := t.TempDir()
	l, err := openLedger(folder)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openLedger(folder); err == nil || !strings.Contains(err.Error(), "another batch writes") {
		t.Errorf("a second batch: %v", err)
	}
	put(t, folder, "a.jsonl", "line")
	j := &job{ID: "1"}
	f := film{path: filepath.Join(folder, "a.jsonl")}
	s, err := f.identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.add(entry{Film: "a", Job: "1", Out: "a.jsonl", SHA256: s.digest, Bytes: s.bytes}); err != nil {
		t.Fatal(err)
	}
	l.close()
	if l, err = openLedger(folder); err != nil || !l.has(t.Context(), "a", j) || l.has(t.Context(), "a", &job{ID: "2"}) || l.has(t.Context(), "b", j) {
		t.Fatalf("%v: not what was written", err)
	}
	l.close()
	put(t, folder, ledgerName, "nonsense\n")
	if _, err := openLedger(folder); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("%v", err)
	}
}
