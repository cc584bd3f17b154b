package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/config"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
	"driftscope/sinks/natsink"
)

// configured returns a configuration of a simulation without bus and dashboard.
func configured(t *testing.T, text string) config.Config {
	t.Helper()
	if !strings.Contains(text, "\nnats: ") {
		text += "nats: {url: \"off\"}\n"
	}
	cfg, err := config.Parse("bead.yaml", []byte("stream: bead\ndashboard: {address: \"off\"}\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	if err := SettleSeeds(&cfg, nil); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// ran runs a configuration to its end, and returns the printed counts and the origin of a restored law.
func ran(t *testing.T, cfg config.Config, before *Earlier) (account, restored string) {
	t.Helper()
	p, err := Assemble(t.Context(), []config.Config{cfg}, before, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Disconnect()
	said, err := suite.Stdout(t, func() error { return p.Run(t.Context(), 0) })
	if err != nil {
		t.Fatal(err)
	}
	return string(said), p.Streams[0].restored
}

// latents returns the lines of one kind in a file, without data that depends on the clock.
func latents(t *testing.T, path, kind string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var of map[string]any
		if err := json.Unmarshal([]byte(line), &of); err != nil {
			t.Fatal(err)
		}
		if of["kind"] == kind {
			delete(of, "latency_ms")
			lines = append(lines, fmt.Sprint(of))
		}
	}
	return lines
}

// TestRun: a scene and a field run from a configuration to the printed counts. A later run continues the stored state. A repetition gives the same results,
// although a state exists.
func TestRun(t *testing.T) {
	for name, c := range map[string]struct{ text, kind string }{
		"scene": {"source: {sim: {name: molecule, frames: 40, realtime: false}}\nmodel: embedded:molecule\ntriggers: [{lost: {name: gone}}]\n", "latent"},
		"field": {"source: {sim: {name: vesicle, frames: 40, realtime: false, density: 20, width: 128, height: 128}}\nobjects: {enabled: true}\n", "objects"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			at := func(name string) string { return filepath.Join(folder, name) }
			file := func(out string) config.Config {
				return configured(t, c.text+fmt.Sprintf("online: {state: %q}\nsinks: [jsonl: {path: %q}]\n", at("state"), at(out)))
			}
			if account, restored := ran(t, file("first.jsonl"), nil); !strings.Contains(account, "frames in 40, tracked 40, dropped 0") || restored != "" {
				t.Errorf("account %q, the law went on from %q", account, restored)
			}
			if _, restored := ran(t, file("second.jsonl"), nil); restored != at("state") {
				t.Errorf("the law went on from %q", restored)
			}
			earlier, err := ReadEarlier(at("first.jsonl"))
			if name == "field" { // its results do not record which frames were tracked
				if err == nil || !strings.Contains(err.Error(), "no latent in it") {
					t.Errorf("a field is repeated: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, restored := ran(t, file("third.jsonl"), earlier); restored != "" {
				t.Errorf("a run that is repeated went on from %q", restored)
			}
			first, third := latents(t, at("first.jsonl"), c.kind), latents(t, at("third.jsonl"), c.kind)
			if len(first) != 40 || !slices.Equal(first, third) {
				t.Errorf("%d and %d latents, the same 40 expected", len(first), len(third))
			}
		})
	}
}

// TestAssembleRefuses: every mistake is a usage error before a frame is read.
func TestAssembleRefuses(t *testing.T) {
	folder := t.TempDir()
	broken := filepath.Join(folder, "broken.state")
	if err := os.WriteFile(broken, []byte("no state"), 0o600); err != nil {
		t.Fatal(err)
	}
	const molecule = "source: {sim: {name: molecule, realtime: false}}\n"
	for text, want := range map[string]string{
		"source: {sim: {name: nothing}}\n":                                                      `"nothing" is not known`,
		molecule + "model: missing.onnx\n":                                                      "missing.onnx",
		molecule + "model: embedded:molecule\nobjects: {enabled: true}\n":                       "is for a whole scene",
		molecule + "preprocess: [clahe]\n":                                                      "the model was trained with",
		molecule + "online: {lead: auto}\n":                                                     "auto needs the clock",
		molecule + "triggers: [{flash: {name: a}}]\n":                                           `kind "flash" is not known`,
		molecule + "online: {state: " + broken + "}\n":                                          "or delete the file to start with a new law",
		molecule + "online: {state: " + filepath.Join(folder, "none", "s") + "}\n":              "online.state, or --state",
		molecule + "record: {path: " + folder + "}\n":                                           "already contains broken.state",
		molecule + "objects: {enabled: true}\npreprocess: [{resize: {width: 0, height: 4}}]\n":  "resize",
		molecule + "objects: {enabled: true}\nonline: {state: " + broken + "}\n":                "or delete the file to start with a new law",
		molecule + "sinks: [nats]\n":                                                            "nats is switched by nats.url",
		molecule + "sinks: [jsonl: {path: " + filepath.Join(folder, "none", "x.jsonl") + "}]\n": "x.jsonl",
	} {
		p, err := Assemble(t.Context(), []config.Config{configured(t, text)}, nil, false)
		if err == nil {
			p.close()
		}
		if err == nil || !strings.Contains(err.Error(), want) || !Wrong(err) {
			t.Errorf("%s: found %v, expected a usage error with %q", text, err, want)
		}
	}
}

// TestCheck: a configuration is checked without opening anything, and all errors are reported together.
func TestCheck(t *testing.T) {
	const molecule = "source: {sim: {name: molecule, realtime: false}}\n"
	out := filepath.Join(t.TempDir(), "out.jsonl")
	for _, text := range []string{
		molecule + "model: embedded:molecule\nsinks: [jsonl: {path: " + out + "}]\n",
		molecule + "objects: {enabled: true}\ntriggers: [{speed: {name: a, object: any, centroid_px_s: 3}}]\n",
		molecule + "model: nats:spot\nnats: {url: \"nats://127.0.0.1:1\"}\n",
	} {
		if err := Check(configured(t, text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a sink wrote")
	}
	err := Check(configured(t, molecule+"model: embedded:none\npreprocess: [{roi: {x: -1}}]\ntriggers: [{flash: {name: a}}]\nonline: {state: /none/s}\nsinks: [jsonl: {path: 3.jsonl, every: 5}]\n"))
	for _, want := range []string{"none", "roi", "flash", "online.state", "every"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q in it", err, want)
		}
	}
	m := Makers()
	for kind, make := range map[string]func(string, func(any) error) error{"sim": m.Source, "jsonl": m.Sink, "clahe": m.Step} {
		if err := make(kind, func(any) error { return errors.New("the options are wrong") }); err == nil || !strings.Contains(err.Error(), "the options are wrong") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestImplied: the configuration implied by a source's name is complete, and every seed is explicit.
func TestImplied(t *testing.T) {
	cfg, err := Implied("sim:molecule", 0, 0)
	if err == nil {
		err = errors.Join(SettleSeeds(&cfg, nil), cfg.Validate())
	}
	if err != nil || fmt.Sprint(cfg.Source.Options()["seed"]) != "1" || cfg.Sinks[0].Kind != TerminalSink {
		t.Errorf("%+v: %v", cfg, err)
	}
	seed := uint64(7)
	if err := SettleSeeds(&cfg, &seed); err != nil || cfg.Online.Seed != 7 || fmt.Sprint(cfg.Source.Options()["seed"]) != "7" {
		t.Errorf("seeds %d and %v: %v", cfg.Online.Seed, cfg.Source.Options()["seed"], err)
	}
	if _, err := Implied("sim:nothing?x=1&x=2", 0, 0); err == nil {
		t.Error("two values of one option are taken")
	}
}

// TestEarlier: for results that cannot be repeated, the error gives the reason and the line.
func TestEarlier(t *testing.T) {
	const frame = `{"v":1,"kind":"latent","stream":"a","seq":0,"time":"2026-11-01T00:00:00Z","z":[1],"z_sd":[1]}` + "\n"
	for text, want := range map[string]string{
		"":             "no latent in it",
		"{":            ":1: not a driftscope message",
		frame + "nope": ":2: not a driftscope message",
		`{"v":1,"kind":"event","stream":"a","seq":3,"time":"2026-11-01T00:00:00Z","level":"info","code":"command_roi","text":"x","count":1}`: "a run that was steered cannot be repeated",
		`{"kind":"health"}`: "no latent in it",
	} {
		path := filepath.Join(t.TempDir(), "r.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadEarlier(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: found %v, expected %q", text, err, want)
		}
	}
	if _, err := ReadEarlier(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestSideBySide: streams of one process that would overwrite each other's output are refused, and all get the bus of the configuration file.
func TestSideBySide(t *testing.T) {
	base := func(change func(*config.Config)) config.Config {
		cfg := configured(t, "source: sim\nmodel: embedded:molecule\n")
		cfg.Stream = "other"
		change(&cfg)
		return cfg
	}
	csv, err := config.NewComponent("csv", map[string]any{"path": "x.csv"})
	if err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*config.Config){
		"both streams are called bead": func(c *config.Config) { c.Stream = "bead" },
		"both keep their law in s":     func(c *config.Config) { c.Online.State = "s" },
		"both record into r":           func(c *config.Config) { c.Record.Path = "r" },
		"both write x.csv":             func(c *config.Config) { c.Sinks = []config.Component{csv} },
		"their nats settings differ":   func(c *config.Config) { c.NATS.Prefix = "lab" },
		"their dashboard settings":     func(c *config.Config) { c.Dashboard.Commands = !c.Dashboard.Commands },
	} {
		first := base(func(c *config.Config) {
			c.Stream, c.Online.State, c.Record.Path, c.Sinks = "bead", "s", "r", []config.Component{csv}
		})
		if err := SideBySide([]string{"a.yaml", "b.yaml"}, []config.Config{first, base(change)}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "a.yaml and b.yaml: ") {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	named, file := base(func(c *config.Config) { c.Stream = "named" }), base(func(c *config.Config) { c.NATS.Prefix = "lab" })
	both := []config.Config{named, file}
	if err := SideBySide([]string{"sim:molecule", "b.yaml"}, both); err != nil || both[0].NATS.Prefix != "lab" {
		t.Errorf("prefix %q: %v", both[0].NATS.Prefix, err)
	}
	if err := ofStream("bead", 2, errors.New("is wrong")); err.Error() != "stream bead: is wrong" {
		t.Error(err)
	}
}

// TestOfProcess: a configuration from KV may not change settings shared by the process.
func TestOfProcess(t *testing.T) {
	own := configured(t, "source: sim\n")
	for want, change := range map[string]func(*config.Config){
		"":                                      func(c *config.Config) { c.NATS, c.Dashboard = config.Default().NATS, config.Default().Dashboard },
		"stream: found a, expected bead":        func(c *config.Config) { c.Stream = "a" },
		"nats: differs from the process's":      func(c *config.Config) { c.NATS.Site = "attic" },
		"dashboard: differs from the process's": func(c *config.Config) { c.Dashboard.Address = "127.0.0.1:1" },
	} {
		cfg := own
		change(&cfg)
		err := ofProcess(&cfg, own)
		if want == "" && (err != nil || cfg.NATS != own.NATS || cfg.Dashboard != own.Dashboard) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	p := &Process{Streams: []*Stream{{cfg: own, written: own}}}
	var refusal *latent.Refusal
	if _, err := p.fromKV(p.Streams[0]); !errors.As(err, &refusal) || refusal.Code != latent.Conflict {
		t.Errorf("without a bucket: %v", err)
	}
	for err, code := range map[error]int{
		latent.Refuse(latent.Malformed, "x"): latent.Malformed,
		errors.New("the disk is away\nnow"):  latent.NotNow,
	} {
		if got := notStarted(err); !errors.As(got, &refusal) || refusal.Code != code || strings.Contains(refusal.Text, "\n") {
			t.Errorf("%v: found %v, expected code %d", err, got, code)
		}
	}
}

// TestKeeping: states are written to their destinations, and a path that cannot be written is reported.
func TestKeeping(t *testing.T) {
	if keeping("", nil, "digest") != nil {
		t.Error("states are kept nowhere")
	}
	folder := t.TempDir()
	if err := keeping(filepath.Join(folder, "s"), nil, "digest")([]byte("law"), pipeline.Place{}); err != nil || string(suite.Content(t, folder, "s")) != "law" {
		t.Error(err)
	}
	if err := keeping(filepath.Join(folder, "none", "s"), nil, "digest")([]byte("law"), pipeline.Place{}); err == nil || !strings.Contains(err.Error(), "choose another online.state") {
		t.Errorf("found %v", err)
	}
	if !Fenced(fmt.Errorf("x: %w", natsink.ErrFenced)) || Fenced(errors.New("x")) {
		t.Error("a run that ended with its lease is known by the error")
	}
}

// TestStay: a stream on a bus ends with its recording, is restarted by a command and again with the configuration in KV, and ends with the process. Meanwhile
// requests get answers, and the law continues from KV.
func TestStay(t *testing.T) {
	folder := t.TempDir()
	cfg := configured(t, "source: {sim: {name: molecule, frames: 30, realtime: false}}\nmodel: embedded:molecule\nsinks: []\n")
	cfg.NATS = config.Default().NATS
	cfg.NATS.URL, cfg.NATS.Port, cfg.NATS.Durable, cfg.NATS.Store, cfg.NATS.Token = config.NATSEmbedded, 0, true, folder, "secret"
	p, err := Assemble(t.Context(), []config.Config{cfg}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Disconnect()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	var account []byte
	go func() {
		var err error
		account, err = suite.Stdout(t, func() error { return p.Run(ctx, 0) })
		ended <- err
	}()
	ask := func(name, payload string) string {
		m, err := p.Bus.NATS().Request("driftscope.local.bead.cmd."+name, []byte(payload), 10*time.Second)
		if err != nil {
			return err.Error()
		}
		return string(m.Data) + m.Header.Get("Nats-Service-Error")
	}
	for _, payload := range []string{"", `{"config": true}`} {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if said := ask("start", payload); said == "ok" {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("start %s: %s", payload, said)
			}
		}
	}
	if said := ask("info", ""); !strings.Contains(said, `"latents":2`) {
		t.Errorf("info says %.300s", said)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if n := strings.Count(string(account), "frames in "); n != 3 {
		t.Errorf("%d accounts of 3 runs: %s", n, account)
	}
}
