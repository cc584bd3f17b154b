package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"driftscope/internal/flow/config"
)

// written puts files into folder, by name.
func written(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSideBySide(t *testing.T) {
	t.Chdir(t.TempDir())
	written(t, ".", map[string]string{
		"a.yaml":    "stream: a\nsource: sim\nonline: {state: law}\nnats: {url: \"off\"}\n",
		"b.yaml":    "stream: b\nsource: sim\nonline: {state: b.law}\nnats: {url: \"off\"}\n",
		"law.yaml":  "stream: c\nsource: sim\nonline: {state: law}\nnats: {url: \"off\"}\n",
		"bus.yaml":  "stream: d\nsource: sim\n",
		"look.yaml": "stream: e\nsource: sim\nnats: {url: \"off\"}\ndashboard: {commands: false}\n",
		"aa.yaml":   "stream: a\nsource: sim\n",
		"csv.yaml":  "stream: f\nsource: sim\nnats: {url: \"off\"}\nsinks: [{csv: {path: r}}]\n",
		"csv2.yaml": "stream: g\nsource: sim\nnats: {url: \"off\"}\nsinks: [{csv: {path: r}}]\n",
	})
	for _, test := range []struct {
		name string
		run  runCmd
		want string
	}{
		{"several", runCmd{Sources: []string{"a.yaml", "sim:molecule", "b.yaml"}}, ""},
		{"alone", runCmd{Sources: []string{"a.yaml"}, Out: "o.jsonl", State: "s", Stream: "x"}, ""},
		{"one name", runCmd{Sources: []string{"b.yaml", "a.yaml", "aa.yaml"}}, "a.yaml and aa.yaml: both streams are called a: "},
		{"one simulation", runCmd{Sources: []string{"sim:molecule", "sim:molecule"}}, "sim:molecule and sim:molecule: both streams are called molecule: "},
		{"one state", runCmd{Sources: []string{"a.yaml", "b.yaml", "law.yaml"}}, "a.yaml and law.yaml: both keep their law in law: "},
		{"one recording", runCmd{Sources: []string{"csv.yaml", "csv2.yaml"}}, "csv.yaml and csv2.yaml: both write r: "},
		{"two buses", runCmd{Sources: []string{"sim:molecule", "a.yaml", "bus.yaml"}}, "a.yaml and bus.yaml: their nats settings differ, "},
		{"two dashboards", runCmd{Sources: []string{"a.yaml", "look.yaml"}}, "a.yaml and look.yaml: their dashboard settings differ, "},
		{"one bus by flag", runCmd{Sources: []string{"b.yaml", "bus.yaml"}, NATS: "off"}, ""},
		{"out", runCmd{Sources: []string{"a.yaml", "b.yaml"}, Out: "o.jsonl"}, "--out o.jsonl: works with one source, but 2 were given: "},
		{"state", runCmd{Sources: []string{"a.yaml", "b.yaml"}, State: "s"}, "--state s: works with one source"},
		{"stream", runCmd{Sources: []string{"a.yaml", "b.yaml"}, Stream: "x"}, "--stream x: works with one source"},
		{"repeat", runCmd{Sources: []string{"a.yaml", "b.yaml"}, Repeat: "o.jsonl"}, "--repeat o.jsonl: works with one source"},
		{"stay without a bus", runCmd{Sources: []string{"a.yaml", "b.yaml"}, Stay: true}, "--stay: nats.url is off, "},
		{"stay and repeat", runCmd{Sources: []string{"a.yaml"}, Stay: true, Repeat: "o.jsonl"}, "--stay: a repetition runs only once: "},
		{"unknown mode", runCmd{Sources: []string{"a.yaml"}, Mode: "newest"}, "mode: found \"newest\""},
	} {
		cfgs, err := test.run.configs()
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: found %v, expected %q", test.name, err, test.want)
		}
		for _, cfg := range cfgs {
			if err == nil && cfg.NATS.URL != config.NATSOff {
				t.Errorf("%s: stream %s has nats %s, expected the files' off", test.name, cfg.Stream, cfg.NATS.URL)
			}
		}
	}
}

// The failure of one stream is reported and fails the process, but the other streams end by themselves.
func TestFailureOfOneStream(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, map[string]string{
		"a.yaml":   "stream: a\nsource: {sim: {name: balls-ou}}\nnats: {url: \"off\"}\nsinks: [{jsonl: {path: a.jsonl}}]\n",
		"b.yaml":   "stream: b\nsource: {sim: {name: molecule, realtime: false}}\nnats: {url: \"off\"}\nsinks: [{jsonl: {path: b.jsonl}}, terminal]\n",
		"c.yaml":   "stream: c\nsource: {tiff: {path: text.tif}}\nmodel: embedded:molecule\nnats: {url: \"off\"}\n",
		"text.tif": "this is no picture\n",
	})
	o := drive(t, folder, "run", "a.yaml", "c.yaml", "b.yaml", "--frames", "40")
	o.check(t, 1, "stream c: source: ")
	for _, want := range []string{"a: frames in 40, tracked 40, ", "b: frames in 40, tracked 40, ", "c: frames in 0, "} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
	for _, stream := range []string{"a", "b"} {
		results, err := os.ReadFile(filepath.Join(folder, stream+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(results, []byte(`"kind":"latent","stream":"`+stream+`"`)); n != 40 {
			t.Errorf("%d latents of stream %s, expected 40", n, stream)
		}
	}
}

// Streams publish on one server, and one Ctrl-C ends them all.
func TestInterruptOfSeveral(t *testing.T) {
	folder := t.TempDir()
	written(t, folder, map[string]string{
		"a.yaml": "stream: a\nsource: {sim: {name: molecule}}\nmode: latest\nnats: {port: 0}\nsinks: [{jsonl: {path: a.jsonl}}]\n",
		"b.yaml": "stream: b\nsource: {sim: {name: molecule}}\nmode: lossless\nqueue: 4096\nnats: {port: 0}\nsinks: [{jsonl: {path: b.jsonl}}]\n",
	})
	c := command(t, folder, "run", "a.yaml", "b.yaml")
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitForFile(t, filepath.Join(folder, "a.jsonl"))
	waitForFile(t, filepath.Join(folder, "b.jsonl"))
	asked := time.Now()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, problems.String())
	}
	if took := time.Since(asked); took > 5*time.Second {
		t.Errorf("took %v to end, expected at most 5 s", took)
	}
	if !strings.Contains(out.String(), "a: frames in ") || !strings.Contains(out.String(), "b: frames in ") {
		t.Errorf("no account of both:\n%s", out.String())
	}
	at := regexp.MustCompile(`publishing on (\S+) under driftscope\.local\.[ab]\n`).FindAllStringSubmatch(problems.String(), -1)
	if len(at) != 2 || at[0][1] != at[1][1] {
		t.Errorf("published on %v, expected one server:\n%s", at, problems.String())
	}
}
