package reach

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"driftscope/internal/flow/config"
)

// makers are the program's own constructors. Their package imports this one, so makers_test.go sets them.
var makers func() Makers

func SetMakers(of func() Makers) { makers = of }

// TestEveryKindSays: every source, every sink and every option that may name something declares what it reaches. A step names nothing, or declares it.
func TestEveryKindSays(t *testing.T) {
	m := makers()
	known := []string{nothing, read, write, device, program, address}
	for _, of := range []struct {
		what  string
		make  Make
		kinds []string
	}{{"source", m.Source, m.SourceKinds}, {"sink", m.Sink, m.SinkKinds}, {"step", m.Step, m.StepKinds}} {
		if len(of.kinds) < 5 {
			t.Errorf("found %d kinds of %s", len(of.kinds), of.what)
		}
		for _, kind := range of.kinds {
			all, err := declared(kind, of.make)
			if err != nil {
				t.Error(err)
			}
			for _, what := range all {
				if !slices.Contains(known, what) && !(of.what == "step" && len(all) == 1) {
					t.Errorf("%s %s: an option, or the kind, has no tag reaches (%q): say what it reaches (internal/job/reach/doc.go)", of.what, kind, what)
				}
			}
		}
	}
	found, err := m.grantable()
	if want := []string{"camera", "genicam", "gpio", "gst", "nats", "osc", "serial", "url"}; err != nil || !slices.Equal(found, want) {
		t.Errorf("kinds that are refused unless they are allowed: %q (%v), expected %q", found, err, want)
	}
}

// TestEveryTextIsHeld: every text option outside the components is checked against --allow, set by the worker, or names nothing.
func TestEveryTextIsHeld(t *testing.T) {
	held := map[string]string{
		"model": "Hold", "record.path": "Hold",
		"online.state": "work leaves it out", "nats.": "work puts its own there", "dashboard.": "work shows none",
		"stream": "a name", "mode": "a word", "objects.polarity": "a word", "objects.find": "a word", "online.lead": "a time",
	}
	var walk func(of reflect.Type, before string)
	walk = func(of reflect.Type, before string) {
		for i := range of.NumField() {
			field := of.Field(i)
			name := before + field.Tag.Get("yaml")
			switch {
			case field.Type == reflect.TypeFor[config.Component](), field.Type == reflect.TypeFor[[]config.Component](), field.Type == reflect.TypeFor[config.Preprocess]():
				if !slices.Contains([]string{"source", "sinks", "triggers", "preprocess"}, name) { // triggers only compute, and publish under a rule's name
					t.Errorf("%s: a component that Hold does not hold", name)
				}
			case field.Type.Kind() == reflect.Struct:
				walk(field.Type, name+".")
			case !harmless(field.Type) && held[name] == "" && held[before] == "":
				t.Errorf("%s: a text that Hold does not hold: hold it, or say here why it names nothing", name)
			}
		}
	}
	walk(reflect.TypeFor[config.Config](), "")
}

// hold checks a configuration against the allowed resources, with a separate folder.
func hold(t *testing.T, folder, text string, allow ...string) (config.Config, error) {
	t.Helper()
	a, err := Allow(allow, makers())
	if err != nil {
		t.Fatal(err)
	}
	written, err := config.Parse("bead.yaml", []byte("stream: bead\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := written.Resolve(func(string) (string, error) { return "hunter2", nil })
	if err != nil {
		t.Fatal(err)
	}
	return a.Hold(cfg, written, folder)
}

// TestRefused: an option that reaches outside a stream's folder is refused with its key, and allowed with the --allow that the refusal suggests.
func TestRefused(t *testing.T) {
	elsewhere := t.TempDir()
	for _, c := range []struct{ text, key, allow string }{
		{"source: {gst: {pipeline: 'videotestsrc ! filesink location=/tmp/evil'}}", "source.gst.pipeline", "gst"},
		{"source: {gst: {pipeline: 'rtspsrc location=rtsp://me:${secret:camera}@host/'}}", "source.gst.pipeline", "gst"},
		{"source: camera", "source.camera.device", "camera"},
		{"source: {camera: {device: 3}}", "source.camera.device", "camera"},
		{"source: genicam", "source.genicam.camera", "genicam"},
		{"source: {genicam: {camera: 10.0.0.7}}", "source.genicam.camera", "genicam"},
		{"source: {url: {url: 'rtsp://10.0.0.7/live'}}", "source.url.url", "rtsp://10.0.0.7"},
		{"source: {url: {url: 'http://169.254.169.254/latest'}}", "source.url.url", "http://169.254.169.254"},
		{"source: {url: {url: 'rtsp://me:${secret:camera}@10.0.0.7:554/live'}}", "source.url.url", "url"},
		{"source: {nats: {subject: camera.bead, url: 'nats://elsewhere:4222'}}", "source.nats.url", "nats://elsewhere:4222"},
		{"source: {nats: {subject: camera.bead, url: 'nats://here:4222,nats://elsewhere:4222'}}", "source.nats.url", "nats"},
		{"source: {nats: {subject: camera.bead, url: 'context:admin'}}", "source.nats.url", "nats"},
		{"source: {nats: {subject: camera.bead, credentials: " + elsewhere + "/admin.creds}}", "source.nats.credentials", elsewhere},
		{"source: {video: {path: " + elsewhere + "/film.mkv}}", "source.video.path", elsewhere},
		{"source: {tiff: {path: ../film.tif}}", "source.tiff.path", ""},
		{"source: {directory: {path: '" + elsewhere + "/*.png'}}", "source.directory.path", elsewhere},
		{"source: {sim: {name: molecule, assets: " + elsewhere + "}}", "source.sim.assets", elsewhere},
		{"source: sim\nsinks: [terminal, {jsonl: {path: " + elsewhere + "/out.jsonl}}]", "sinks[1].jsonl.path", elsewhere},
		{"source: sim\nsinks: [{csv: {path: /etc/cron.d/x.csv}}]", "sinks[0].csv.path", "/etc"},
		{"source: sim\nsinks: [{parquet: {path: ../../x.parquet}}]", "sinks[0].parquet.path", ""},
		{"source: sim\nsinks: [{serial: {device: /dev/ttyUSB0, firmata: {edge: 13}}}]", "sinks[0].serial.device", "serial"},
		{"source: sim\nsinks: [{gpio: {chip: gpiochip0, lines: {edge: 17}}}]", "sinks[0].gpio.chip", "gpio"},
		{"source: sim\nsinks: [{osc: {to: '10.0.0.9:9000', rules: [edge]}}]", "sinks[0].osc.to", "osc://10.0.0.9:9000"},
		{"source: sim\nrecord: {path: " + elsewhere + "/copy}", "record.path", elsewhere},
		{"source: sim\nmodel: " + elsewhere + "/spot.onnx", "model", elsewhere},
	} {
		folder := filepath.Join(t.TempDir(), "files")
		_, err := hold(t, folder, c.text)
		if err == nil || !strings.HasPrefix(err.Error(), c.key+": found ") || !strings.Contains(err.Error(), "this worker allows the stream's own folder: start it with --allow ") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s\nis refused with %v, expected its key %s, what is allowed and what to do", c.text, err, c.key)
			continue
		}
		if c.allow == "" {
			continue
		}
		if !strings.Contains(err.Error(), "--allow "+c.allow+",") && c.allow != "/etc" {
			t.Errorf("%s\nis refused with %v, expected --allow %s", c.text, err, c.allow)
		}
		if _, err := hold(t, folder, c.text, c.allow); err != nil {
			t.Errorf("%s\nis refused with --allow %s: %v", c.text, c.allow, err)
		}
	}
}

// TestNear: an address that only resembles an allowed one is refused.
func TestNear(t *testing.T) {
	for _, url := range []string{"rtsp://10.0.0.70/", "rtsp://10.0.0.7.evil.org/", "rtsp://10.0.0.7@evil.org/", "rtsps://10.0.0.7/", "rtsp://10.0.0.7:555/", "rtsp://evil.org/rtsp://10.0.0.7:554/"} {
		if _, err := hold(t, t.TempDir(), "source: {url: {url: '"+url+"'}}", "rtsp://10.0.0.7:554"); err == nil {
			t.Errorf("%s passes for rtsp://10.0.0.7:554", url)
		}
	}
	if _, err := hold(t, t.TempDir(), "source: {url: {url: 'RTSP://10.0.0.7:554/live'}}", "rtsp://10.0.0.7:554"); err != nil {
		t.Error(err)
	}
}

// TestPaths: paths are checked by their targets after links, and the run gets the resolved path.
func TestPaths(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own, films, secret := filepath.Join(root, "own"), filepath.Join(root, "films"), filepath.Join(root, "films2")
	for _, folder := range []string{own, films, secret} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"own/out": secret, "own/nowhere": filepath.Join(root, "none"), "own/in": films, "films/up": root, "link": films, "own/round": filepath.Join(own, "round")} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"film.tif":                   own + "/film.tif",
		"a/b/film.tif":               own + "/a/b/film.tif",
		"a/../film.tif":              own + "/film.tif",
		own + "/film.tif":            own + "/film.tif",
		"in/film.tif":                films + "/film.tif",
		films + "/film.tif":          films + "/film.tif",
		root + "/link/film.tif":      films + "/film.tif",
		"x ! filesink location=/etc": "", // a missing folder, so the path is within the stream's folder
		"../films/film.tif":          films + "/film.tif",
		"out/film.tif":               "-",
		"out":                        "-",
		"nowhere":                    "-", // a link to a missing target outside
		"nowhere/film.tif":           "-",
		"round/film.tif":             "-",
		"../films2/film.tif":         "-",
		films + "/../films2/film":    "-",
		films + "/up/films2/film":    "-",
		films + "2/film.tif":         "-",
		root:                         "-",
		"/":                          "-",
		"/proc/self/environ":         "-",
	} {
		cfg, err := hold(t, own, fmt.Sprintf("source: {tiff: {path: %q}}", path), root+"/link")
		got := fmt.Sprint(cfg.Source.Options()["path"])
		switch {
		case want == "-" && (err == nil || !strings.HasPrefix(err.Error(), "source.tiff.path: ")):
			t.Errorf("%s is held to be %s (%v), expected a refusal", path, got, err)
		case want == "" && (err != nil || !strings.HasPrefix(got, own+"/")), want != "-" && want != "" && (err != nil || got != want):
			t.Errorf("%s is %s (%v), expected %s", path, got, err, want)
		}
	}
}

// TestSecrets: a secret is accepted only in an address, because messages repeat names and paths.
func TestSecrets(t *testing.T) {
	for _, text := range []string{
		"source: {tiff: {path: 'a${secret:x}'}}", "source: {nats: {subject: 'camera.${secret:x}'}}", "source: {sim: {name: '${secret:x}'}}",
		"source: {sim: {name: molecule}}\nsinks: [{jsonl: {path: '${secret:x}'}}]", "source: {sim: {name: molecule}}\nsinks: [{csv: {path: a.csv, table: '${secret:x}'}}]",
		"source: {ndtiff: {path: a, axes: {channel: '${secret:x}'}}}",
	} {
		if _, err := hold(t, t.TempDir(), text, "url"); err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "expected no secret") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := hold(t, t.TempDir(), "source: {tiff: {path: a, channel: '${secret:x}'}}"); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("a secret in place of a number: %v", err)
	}
	if _, err := hold(t, t.TempDir(), "source: {url: {url: 'rtsp://me:${secret:x}@10.0.0.7/live'}}", "rtsp://10.0.0.7"); err != nil {
		t.Error(err)
	}
}

// TestUntold: a kind without declarations is refused, and so is an undeclared option that may name something.
func TestUntold(t *testing.T) {
	m := makers()
	m.Source = func(kind string, decode func(any) error) error {
		if kind == "ports" {
			return decode(&struct {
				Port int `yaml:"port"`
			}{})
		}
		return decode(&struct {
			Word string   `yaml:"word" reaches:"nothing"`
			More []string `yaml:"more"`
		}{})
	}
	m.SourceKinds = nil
	a, err := Allow(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	for text, refused := range map[string]string{
		"{ports: {port: 80}}":     "source.ports: this build does not say",
		"ports":                   "source.ports: this build does not say",
		"{words: {more: [/etc]}}": "source.words.more: this build does not say",
		"{words: {word: x}}":      "",
	} {
		cfg, err := config.Parse("bead.yaml", []byte("stream: bead\nsource: "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Hold(cfg, cfg, t.TempDir()); fmt.Sprint(err) == "<nil>" != (refused == "") || err != nil && !strings.HasPrefix(err.Error(), refused) {
			t.Errorf("%s: found %v, expected %q", text, err, refused)
		}
	}
}

// TestAllow: invalid values of --allow are refused when the worker starts.
func TestAllow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, said := range []string{"tiff", "films", "rtsp://", "rtsp://me:hunter2@host", "http://host/path", file, file + "2", ""} {
		if _, err := Allow([]string{said}, makers()); err == nil {
			t.Errorf("--allow %q is taken", said)
		}
	}
}

// TestWorkersOwn: default options and the worker's own connection for frames need no permission.
func TestWorkersOwn(t *testing.T) {
	for _, text := range []string{
		"source: {nats: {subject: camera.bead}}\nframes: {durable: true}\nmodel: nats:bead\n",
		"source: sim\nmodel: embedded:molecule\nsinks: [terminal]\npreprocess: [{normalise: {to: uint8}}, {roi: {x: 0, y: 0, width: 8, height: 8}}]\n",
		"source: sim\nrecord: {path: copy}\nsinks: [{jsonl: {path: out.jsonl}}]\n",
	} {
		if _, err := hold(t, filepath.Join(t.TempDir(), "files"), text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
