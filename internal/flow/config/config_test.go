package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// bad maps the name of a faulty file to its whole error, without the folder.
var badFiles = map[string]string{
	"alarms":       `alarms.bad.yaml: online.alarm_frames: found 10, expected 1e3 to 1e7`,
	"anchor":       `anchor.bad.yaml:1: anchors, aliases, tags and directives are not supported ("&"): write the value out`,
	"bad-kept":     `bad-kept.bad.yaml: model: found "nats:a.b", expected nats:NAME, such as nats:molecule`,
	"bad-embedded": `bad-embedded.bad.yaml: model: found "embedded:", expected embedded:NAME, such as embedded:molecule`,
	"bad-frames": "bad-frames.bad.yaml: frames.durable: found true with source sim: only frames received over NATS can be stored, use source: {nats: {subject: camera.bead}}\n" +
		"bad-frames.bad.yaml: frames.durable: found true with mode latest: stored frames are never dropped, leave mode out\n" +
		"bad-frames.bad.yaml: frames.max_bytes: found 1000, expected 67108864 to 1099511627776\n" +
		"bad-frames.bad.yaml: frames.max_age: found 1s, expected 1m0s to 87600h0m0s\n" +
		"bad-frames.bad.yaml: frames.replicas: found 7, expected 1 to 5",
	"bad-grace":  `bad-grace.bad.yaml: grace: found -3s, expected more than 0s and at most 1m0s`,
	"bad-mode":   `bad-mode.bad.yaml: mode: found "newest", expected latest or lossless`,
	"bad-memory": `bad-memory.bad.yaml: online.memory: found 10, expected 64 to 65536 transitions`,
	"model-off":  `model-off.bad.yaml: model: found "nats:spot" but nats.url is off: give a server, or the path of an .onnx file`,
	"bad-model":  `bad-model.bad.yaml: model: found "bead.pt", expected embedded:NAME, nats:NAME or the path of an .onnx file`,
	"bad-nats":   `bad-nats.bad.yaml: nats.url: found "imaging.example", expected embedded, off, context:NAME or nats://host:port`,
	"bad-nats-durable": "bad-nats-durable.bad.yaml: nats.durable: found true, but nats.url is off: give nats.url, or leave durable out\n" +
		"bad-nats-durable.bad.yaml: nats.store: is missing, but nats.durable needs it: give a folder for undelivered messages and the data of an embedded server\n" +
		"bad-nats-durable.bad.yaml: nats.max_age: found 1s, expected 1m0s to 87600h0m0s\n" +
		"bad-nats-durable.bad.yaml: nats.max_bytes: found 1000, expected 16777216 to 1099511627776",
	"bad-nats-files": `bad-nats-files.bad.yaml: nats: creds, nkey, ca, cert and key are only for an external server: leave them out, or give its nats.url`,
	"bad-mqtt": `bad-mqtt.bad.yaml: nats.mqtt: found "1883", expected host:port, such as 127.0.0.1:1883` + "\n" +
		"bad-mqtt.bad.yaml: nats.mqtt: only the embedded server uses it: leave it out, and configure MQTT in your own server\n" +
		"bad-mqtt.bad.yaml: nats.store: is missing, but nats.mqtt needs it: give a folder in which the embedded server stores the sessions of MQTT clients",
	"bad-lead":      `bad-lead.bad.yaml: online.lead: found "soon", expected a duration up to 10s such as 12ms, the word auto, or auto plus the delay after the pin, such as auto+5ms`,
	"bad-nats-list": `bad-nats-list.bad.yaml: nats.url: found "nats://a:4222,b:4222", expected embedded, off, context:NAME or nats://host:port`,
	"bad-nats-pair": "bad-nats-pair.bad.yaml: nats.cert, nats.key: only one is given: give the certificate and its key\n" +
		"bad-nats-pair.bad.yaml: nats.creds, nats.nkey: both are given: keep the one that the server requires",
	"bad-pixel":          `bad-pixel.bad.yaml: online.pixel_um: found -0.1, expected more than 0 and at most 1e+06 µm`,
	"optics-alone":       `optics-alone.bad.yaml: optics.focal_depth: is in µm: give online.pixel_um as well`,
	"optics-depth":       `optics-depth.bad.yaml: optics.focal_depth: found -1, expected 0 to 10000 µm`,
	"bad-port":           `bad-port.bad.yaml: nats.port: found 70000, expected 0 (any free port) to 65535`,
	"bad-queue":          `bad-queue.bad.yaml: queue: found 5000, expected 1 to 4096 frames, or 0 for the default of the mode`,
	"bad-record":         `bad-record.bad.yaml: record.max_gb: found 0, expected more than 0 and at most 1e+06 GB`,
	"bad-stall":          `bad-stall.bad.yaml: stall_after: found 1ms, expected 10ms to 24h0m0s, or 0s to wait for ever`,
	"bad-token":          `bad-token.bad.yaml: stream: found "a.b", expected 1 to 64 letters, digits, - or _`,
	"bad-websocket":      `bad-websocket.bad.yaml: nats.websocket: found "http://imaging.example:8080", expected ws://host:port or wss://host:port, without a user`,
	"dashboard-address":  `dashboard-address.bad.yaml: dashboard.address: found "127.0.0.1", expected host:port, such as 127.0.0.1:8300, or off`,
	"dashboard-port":     `dashboard-port.bad.yaml: dashboard.address: found "127.0.0.1:83000", expected host:port, such as 127.0.0.1:8300, or off`,
	"dashboard-token":    `dashboard-token.bad.yaml: dashboard.token: found 6 characters, expected 16 to 256`,
	"deep":               `deep.bad.yaml:1: brackets nested deeper than 16: simplify`,
	"descending":         `descending.bad.yaml: online.forecast_s: found [0.2 0.1], expected at most 8 numbers of seconds, ascending, above 0 and at most 3600`,
	"documents":          `documents.bad.yaml: contains several documents: keep one, without a --- line in the middle`,
	"duplicate":          `duplicate.bad.yaml:2: not valid YAML: mapping key "source" already defined at [1:1]`,
	"embedded-websocket": `embedded-websocket.bad.yaml: nats.websocket: only for an external server, the embedded server has its own: leave it out, or give nats.url`,
	"empty":              `empty.bad.yaml: source: is missing: add a source, such as source: {sim: {name: molecule, seed: 1}}`,
	"checkpoint":         `checkpoint.bad.yaml: online.checkpoint_every: found 100ms, expected 1s to 1h0m0s`,
	"replicas":           `replicas.bad.yaml: nats.replicas: found 7, expected 1 to 5`,
	"exposure":           `exposure.bad.yaml: online.exposure: found 2h0m0s, expected 0s to 1h0m0s`,
	"fraction":           `fraction.bad.yaml:2: online.refine_lag: found "1.5", expected a whole number`,
	"missing-source":     `missing-source.bad.yaml: source: is missing: add a source, such as source: {sim: {name: molecule, seed: 1}}`,
	"negative-seed":      `negative-seed.bad.yaml:2: online.seed: found "-1", expected a number that fits uint64`,
	"null-value":         `null-value.bad.yaml:2: stream: found nothing, expected text; put it in quotes if it looks like something else`,
	"number-as-text":     `number-as-text.bad.yaml:2: stream: found "42", expected text; put it in quotes if it looks like something else`,
	"options-not-a-map":  `options-not-a-map.bad.yaml:1: source.sim: found a list, expected its options as a map, {option: value}`,
	"preprocess-word":    `preprocess-word.bad.yaml:2: preprocess: found "none", expected "model", or a list of steps`,
	"quoted-number":      `quoted-number.bad.yaml:2: nats.port: found "4222", expected a whole number`,
	"sinks-not-a-list":   `sinks-not-a-list.bad.yaml:2: sinks: found a map, expected a list, one entry after each dash`,
	"syntax":             `syntax.bad.yaml:1: not valid YAML: sequence end token ']' not found`,
	"tag":                `tag.bad.yaml:1: anchors, aliases, tags and directives are not supported ("!!str"): write the value out`,
	"too-many-triggers":  `too-many-triggers.bad.yaml: triggers: found 33, expected at most 32`,
	"top-list":           `top-list.bad.yaml:1: the file: found a list, expected a map with the keys dashboard, frames, grace, mode, model, nats, objects, online, optics, preprocess, queue, record, sinks, source, stall_after, stream, triggers`,
	"two-kinds":          `two-kinds.bad.yaml:1: source: found a map, expected one kind with its options, {kind: {option: value}}, or the kind alone`,
	"two-problems": "two-problems.bad.yaml:3: online.seed: found \"yes\", expected a whole number\n" +
		"two-problems.bad.yaml:4: online.max_gap: found \"5\", expected a duration with its unit, such as 500ms or 3s",
	"unknown-key": `unknown-key.bad.yaml:3: unknown key "nats.prot"; known keys here: ca, cert, creds, durable, key, max_age, max_bytes, mqtt, nkey, port, prefix, replicas, site, store, token, url, websocket`,
	"unknown-top": `unknown-top.bad.yaml:2: unknown key "sink"; known keys here: dashboard, frames, grace, mode, model, nats, objects, online, optics, preprocess, queue, record, sinks, source, stall_after, stream, triggers`,
}

func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	if err != nil || len(files) != len(badFiles) {
		t.Fatalf("%d bad files, %d expectations (%v)", len(files), len(badFiles), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".bad.yaml")
		t.Run(name, func(t *testing.T) {
			_, err := Load(file)
			if err == nil {
				t.Fatal("no error")
			}
			if got := strings.ReplaceAll(err.Error(), "testdata/", ""); got != badFiles[name] {
				t.Errorf("found\n%s\nexpected\n%s", got, badFiles[name])
			}
		})
	}
}

func TestGoodFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.good.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no good files (%v)", err)
	}
	for _, file := range files {
		if _, err := Load(file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func TestMinimalIsDefault(t *testing.T) {
	c, err := Load("testdata/minimal.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c.Source = Component{}
	if want := Default(); !reflect.DeepEqual(c, want) {
		t.Errorf("found %+v, expected %+v", c, want)
	}
}

// TestDigest: the digest changes with every setting that affects the results, and with no other.
func TestDigest(t *testing.T) {
	digest := func(text string) string {
		t.Helper()
		c, err := Parse("test", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		d, err := c.Digest()
		if err != nil || len(d) != 64 {
			t.Fatalf("found %q, %v", d, err)
		}
		return d
	}
	first := digest("source: {sim: {name: molecule, seed: 1}}")
	for _, same := range []string{
		"source: {sim: {seed: 1, name: molecule}}",
		"{stream: other, grace: 1s, source: {sim: {name: molecule, seed: 1}}, nats: {url: off}, sinks: [terminal], online: {seed: 1, state: a}}",
	} {
		if digest(same) != first {
			t.Errorf("another digest: %s", same)
		}
	}
	for _, other := range []string{
		"source: {sim: {name: molecule, seed: 2}}", "source: sim", "{source: {sim: {name: molecule, seed: 1}}, online: {seed: 2}}",
		"{source: {sim: {name: molecule, seed: 1}}, model: a.onnx}", "{source: {sim: {name: molecule, seed: 1}}, preprocess: [{clahe: {tiles: 8}}]}",
		"{source: {sim: {name: molecule, seed: 1}}, triggers: [{lost: {name: gone}}]}",
	} {
		if digest(other) == first {
			t.Errorf("the same digest: %s", other)
		}
	}
}

func TestFull(t *testing.T) {
	c, err := Load("testdata/full.good.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(c.Online, Online{Seed: 1<<64 - 1, RefineLag: 100, Memory: 1000, MaxGap: 250 * time.Millisecond, Exposure: 8 * time.Millisecond, CheckpointEvery: 5 * time.Second, PixelUM: 0.351, Forecast: []float64{0.05, 1}, AlarmFrames: 1e6}) {
		t.Errorf("online %+v", c.Online)
	}
	if c.Stream != "bead-2" || c.Model != "models/bead.onnx" || c.Grace != 1500*time.Millisecond {
		t.Errorf("top level %+v", c)
	}
	if c.Mode != "lossless" || c.Queue != 64 || c.StallAfter != 30*time.Second {
		t.Errorf("mode %q, queue %d, stall_after %v", c.Mode, c.Queue, c.StallAfter)
	}
	if c.NATS != (NATS{URL: "nats://imaging.example:4222", Port: 0, Prefix: "lab", Site: "room-12", Durable: true, Store: "kept", MaxAge: time.Hour, MaxBytes: 1 << 24, Replicas: 3, WebSocket: "wss://imaging.example:8443"}) {
		t.Errorf("nats %+v", c.NATS)
	}
	if c.Record != (Record{Path: "raw", MaxGB: 0.5}) {
		t.Errorf("record %+v", c.Record)
	}
	if c.Dashboard != (Dashboard{Address: "0.0.0.0:8400", Token: "a token of the laboratory"}) {
		t.Errorf("dashboard %+v", c.Dashboard)
	}
	var sim struct {
		Name string `yaml:"name"`
		Seed uint64 `yaml:"seed"`
		Size [2]int `yaml:"size"`
	}
	if err := c.Source.Decode(&sim); err != nil || c.Source.Kind != "sim" || sim.Name != "balls-ou" || sim.Seed != 7 || sim.Size != [2]int{64, 48} {
		t.Errorf("source %q %+v: %v", c.Source.Kind, sim, err)
	}
	window := struct {
		Low, High float64
	}{}
	if err := c.Preprocess[0].Decode(&window); err == nil {
		t.Error("a struct without yaml tags has no keys, yet low was read")
	}
	if len(c.Preprocess) != 3 || c.Preprocess[1].Kind != "clahe" || c.Preprocess[2].Kind != "clahe" {
		t.Errorf("preprocess %+v", c.Preprocess)
	}
	if len(c.Triggers) != 1 || c.Triggers[0].Kind != "lost" || c.Triggers[0].Options()["name"] != "gone" {
		t.Errorf("triggers %+v", c.Triggers)
	}
	if len(c.Sinks) != 2 || c.Sinks[1].Kind != "jsonl" {
		t.Errorf("sinks %+v", c.Sinks)
	}
}

type options struct {
	Path string            `yaml:"path"`
	Rate *float64          `yaml:"rate"`
	List []int             `yaml:"list"`
	Deep struct{ On bool } `yaml:"-"`
	Nest struct {
		On    bool           `yaml:"on"`
		Extra map[string]any `yaml:"extra"`
	} `yaml:"nest"`
	Side map[string][2]float64 `yaml:"side"`
	shared
}

// shared is an embedded struct with keys of its own.
type shared struct {
	Name string `yaml:"name"`
}

func TestDecode(t *testing.T) {
	for _, test := range []struct{ name, yaml, want string }{
		{"good", "source: {k: {path: a, rate: 2, list: [1, 2], nest: {on: true, extra: {a: 1}}}}", ""},
		{"embedded", "source: {k: {name: a}}", ""},
		{"embedded text", "source: {k: {name: 1}}", `c.yaml:1: source.k.name: found "1", expected text; put it in quotes if it looks like something else`},
		{"names", "source: {k: {side: {z1: [0, 1], z2: [1e-3, 2]}}}", ""},
		{"named text", "source: {k: {side: {z1: [0, 1], z2: [0, \"1\"]}}}", `c.yaml:1: source.k.side.z2[1]: found "1", expected a finite number`},
		{"named length", "source: {k: {side: {z1: [0]}}}", `c.yaml:1: source.k.side.z1: found 1 values, expected 2`},
		{"list for names", "source: {k: {side: [0, 1]}}", `c.yaml:1: source.k.side: found a list, expected a map, {name: value}`},
		{"exponent", "source: {k: {rate: 1e-3, list: [1e2]}}", ""},
		{"quoted exponent", "source: {k: {rate: \"1e-3\"}}", `c.yaml:1: source.k.rate: found "1e-3", expected a finite number`},
		{"defaults", "source: {k: {}}", ""},
		{"unknown", "source:\n  k:\n    nest: {off: true}", `c.yaml:3: unknown key "source.k.nest.off"; known keys here: extra, on`},
		{"ignored field", "source: {k: {deep: {}}}", `c.yaml:1: unknown key "source.k.deep"; known keys here: list, name, nest, path, rate, side`},
		{"list entry", "source: {k: {list: [1, a]}}", `c.yaml:1: source.k.list[1]: found "a", expected a whole number`},
		{"infinite", "source: {k: {rate: .inf}}", `c.yaml:1: source.k.rate: found ".inf", expected a finite number`},
		{"map for text", "source: {k: {path: {}}}", `c.yaml:1: source.k.path: found a map, expected text; put it in quotes if it looks like something else`},
		{"several", "source: {k: {path: 1, nest: {on: 2}}}", "c.yaml:1: source.k.path: found \"1\", expected text; put it in quotes if it looks like something else\n" +
			`c.yaml:1: source.k.nest.on: found "2", expected true or false`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, err := Parse("c.yaml", []byte(test.yaml))
			if err != nil {
				t.Fatal(err)
			}
			var dst options
			err = c.Source.Decode(&dst)
			if got := text(err); got != test.want {
				t.Errorf("found\n%s\nexpected\n%s", got, test.want)
			}
		})
	}
}

func TestNewComponent(t *testing.T) {
	c, err := NewComponent("k", map[string]any{"path": "12: [3", "rate": 2.0, "list": []any{1.0, 2.0}, "nest": map[string]any{"on": true}})
	if err != nil {
		t.Fatal(err)
	}
	var dst options
	if err := c.Decode(&dst); err != nil || dst.Path != "12: [3" || *dst.Rate != 2 || !reflect.DeepEqual(dst.List, []int{1, 2}) || !dst.Nest.On {
		t.Errorf("found %+v: %v", dst, err)
	}
	c, err = NewComponent("k", map[string]any{"pth": "a"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := text(c.Decode(&dst)), `unknown key "k.pth"; known keys here: list, name, nest, path, rate, side`; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

func TestWith(t *testing.T) {
	c, err := Parse("c.yaml", []byte("source: {sim: {name: molecule, seed: 18446744073709551615}}"))
	if err != nil {
		t.Fatal(err)
	}
	longer, err := c.Source.With("frames", 20)
	if err != nil {
		t.Fatal(err)
	}
	var dst struct {
		Name   string `yaml:"name"`
		Seed   uint64 `yaml:"seed"`
		Frames int    `yaml:"frames"`
	}
	if err := longer.Decode(&dst); err != nil || dst.Name != "molecule" || dst.Seed != 1<<64-1 || dst.Frames != 20 {
		t.Errorf("found %+v: %v", dst, err)
	}
}

func TestOptions(t *testing.T) {
	c, err := Parse("c.yaml", []byte("source: {k: {side: 64, list: [1, 2.5], on: true, in: {a: b}}}"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"side": uint64(64), "list": []any{uint64(1), 2.5}, "on": true, "in": map[string]any{"a": "b"}}
	if got := c.Source.Options(); !reflect.DeepEqual(got, want) {
		t.Errorf("found %#v, expected %#v", got, want)
	}
}

func TestBounds(t *testing.T) {
	for _, test := range []struct{ name, data, want string }{
		{"long line", "# " + strings.Repeat("x", 2000), "c.yaml:1: line of 2002 bytes, at most 1024 are allowed: break it up"},
		{"binary", "a\x00b", "c.yaml: contains binary data: give a YAML file"},
		{"many tokens", "a: [\n" + strings.Repeat(strings.Repeat("1,", 500)+"\n", 100) + "]", "c.yaml: 100004 words and punctuation marks, a configuration has at most 65536: is this the right file?"},
		{"dashes", strings.Repeat("- ", 500) + "a", "c.yaml:1: nested deeper than 32: simplify"},
		{"stairs", stairs(40), "c.yaml:33: nested deeper than 32: simplify"},
		{"large", strings.Repeat("#\n", MaxBytes), "c.yaml: 2097152 bytes, a configuration has at most 1048576: is this the right file?"},
	} {
		if _, err := Parse("c.yaml", []byte(test.data)); text(err) != test.want {
			t.Errorf("%s: found %s, expected %s", test.name, text(err), test.want)
		}
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "cannot be opened") {
		t.Errorf("nothing there: %v", err)
	}
}

// stairs returns nested maps.
func stairs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// TestManyProblems: the first ten problems are reported in full and the others counted, in a file of any length.
func TestManyProblems(t *testing.T) {
	for _, keys := range []int{9, 10, 11, 5000, 80000} {
		var file strings.Builder
		for i := range keys {
			fmt.Fprintf(&file, "k%05d: 1\n", i)
		}
		_, err := Parse("c.yaml", []byte(file.String()))
		lines := strings.Split(text(err), "\n")
		want := min(keys, maxTold)
		if keys > maxTold {
			want++
			if more := fmt.Sprintf("c.yaml: and %d more problems", min(keys, maxLines)-maxTold); lines[maxTold] != more {
				t.Errorf("%d unknown keys: found %q, expected %q", keys, lines[maxTold], more)
			}
		}
		if keys > maxLines {
			want++
			if last := lines[len(lines)-1]; last != "c.yaml: 80000 lines, but only the first 8192 were read: is this the right file?" {
				t.Errorf("%d unknown keys: found %q at the end", keys, last)
			}
		}
		if len(lines) != want || !strings.HasPrefix(lines[0], `c.yaml:1: unknown key "k00000"`) {
			t.Errorf("%d unknown keys: %d lines, the first %q", keys, len(lines), lines[0])
		}
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("fuzz.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "fuzz.yaml:") {
				t.Errorf("error does not name the file: %v", err)
			}
			return
		}
		if err := c.Validate(); err != nil {
			t.Errorf("what Parse accepts does not validate: %v", err)
		}
		_ = c.Source.Decode(&options{})
		_ = c.Source.Options()
	})
}

// text returns the text of an error, or "" for nil.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestDecodeNames: the user chooses the keys of a map, and the keys of an embedded struct work like all others.
func TestDecodeNames(t *testing.T) {
	c, err := Parse("c.yaml", []byte("source: {k: {name: a, side: {z1: [-1, 1], z2: [0, 1e-3]}}}"))
	if err != nil {
		t.Fatal(err)
	}
	var dst options
	if err := c.Source.Decode(&dst); err != nil || dst.Name != "a" || !reflect.DeepEqual(dst.Side, map[string][2]float64{"z1": {-1, 1}, "z2": {0, 1e-3}}) {
		t.Errorf("found %+v: %v", dst, err)
	}
}

// TestFrames: by default frames are stored for an hour, on an external server and on an embedded server with a folder.
func TestFrames(t *testing.T) {
	for text, want := range map[string]Frames{
		"source: {nats: {subject: cam}}": {MaxBytes: 16 << 30, MaxAge: time.Hour, Replicas: 1},
		"source: {nats: {subject: cam, url: 'nats://a:4222'}}\nframes: {durable: true, replicas: 3}":           {Durable: true, MaxBytes: 16 << 30, MaxAge: time.Hour, Replicas: 3},
		"source: {nats: {subject: cam}}\nframes: {durable: true, max_age: 10m}\nnats: {store: here}":           {Durable: true, MaxBytes: 16 << 30, MaxAge: 10 * time.Minute, Replicas: 1},
		"source: {nats: {subject: cam}}\nframes: {durable: true, max_bytes: 67108864}\nnats: {url: context:a}": {Durable: true, MaxBytes: 64 << 20, MaxAge: time.Hour, Replicas: 1},
	} {
		c, err := Parse("x.yaml", []byte(text))
		if err != nil || c.Frames != want {
			t.Errorf("%s: %+v (%v), expected %+v", text, c.Frames, err, want)
		}
	}
	if _, err := Parse("x.yaml", []byte("source: {nats: {subject: cam}}\nframes: {max_byte: 67108864}")); err == nil || !strings.Contains(err.Error(), "frames.max_byte") {
		t.Errorf("found %v", err)
	}
}

// TestStreamOfSource: a configuration without a stream name takes the name of its source.
func TestStreamOfSource(t *testing.T) {
	for source, want := range map[string]string{
		"{tiff: {path: 'a/bead 2.ome.tif'}}": "bead-2-ome", "{nats: {subject: lab.cam}}": "lab-cam", "{url: {url: 'rtsp://user:word@scope:554/'}}": "scope",
		"{sim: {name: balls-ou}}": "balls-ou", "sim": "molecule", "{camera: {device: 1}}": "camera",
	} {
		c, err := Parse("a.yaml", []byte("source: "+source+"\n"))
		if err != nil || c.Stream != want {
			t.Errorf("%s: found %q, %v, expected %q", source, c.Stream, err, want)
		}
		if c, err = Parse("a.yaml", []byte("stream: own\nsource: "+source+"\n")); err != nil || c.Stream != "own" {
			t.Errorf("%s: found %q, %v", source, c.Stream, err)
		}
	}
}
