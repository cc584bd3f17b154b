package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// TestFirstHour types the commands of a new user's first hour, in a separate folder, and compares the output. Each line once confused a
// user.
func TestFirstHour(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "vesicle", "--frames", "40", "--density", "20", "--size", "200", "--snr", "5", "--out", "film"); o.status != 0 {
		t.Fatal(o.errors)
	}
	if err := os.WriteFile(filepath.Join(folder, "bead 2.yaml"), []byte("source: {directory: {path: film, dt: 0.02}}\nnats: {url: off}\ndashboard: {address: off}\nobjects: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	quiet := []string{"--nats", "off", "--dashboard", "off", "--no-status"}
	run := func(args ...string) []string { return append(append([]string{"run"}, args...), quiet...) }
	if o := drive(t, folder, run("film", "--out", "tracks.csv", "--pixel-um", "0.1")...); o.status != 0 {
		t.Fatal(o.errors)
	}
	for _, step := range []struct {
		stumble string
		args    []string
		status  int
		sees    []string // texts in both outputs
	}{
		{"--version is a flag elsewhere", []string{"--version"}, 0, []string{"driftscope ", "commit "}},
		{"help is a command elsewhere", []string{"help"}, 0, []string{"Usage: driftscope COMMAND"}},
		{"help of a command", []string{"help", "run"}, 0, []string{"Usage: driftscope run", "Examples:", "driftscope run film.tif --fps 25"}},
		{"a placeholder of a machine", []string{"run", "--help"}, 0, []string{"--fps=N"}},
		{"a mistyped path", []string{"run", "flim"}, 2, []string{"flim does not exist", "did you mean film?"}},
		{"a mistyped table", []string{"law", "track.csv", "--fps", "50"}, 2, []string{"did you mean " + filepath.Join(folder, "tracks.csv") + "?"}},
		{"a mistyped configuration", []string{"lint", "bead2.yaml"}, 2, []string{"did you mean bead 2.yaml?"}},
		{"a rate of 0", run("film", "--fps", "0"), 2, []string{"--fps: found 0"}},
		{"an interval of 0", []string{"law", "tracks.csv", "--dt", "0"}, 2, []string{"--dt: found 0"}},
		{"an interval that is a rate", []string{"law", "tracks.csv", "--dt", "19"}, 0, []string{"--dt 19 means 19 s", "--fps 19"}},
		{"a rate for the law", []string{"law", "tracks.csv", "--fps", "50", "--pixel-um", "0.1"}, 0, []string{"µm²/s"}},
		{"an unknown ending", run("film", "--out", "tracks.zarr"), 2, []string{`".zarr" is not known`, ".geff", ".xml", ".parquet"}},
		{"an ending in capitals", run("film", "--out", "TRACKS.CSV"), 0, []string{"frames in 40"}},
		{"a graph of tracks", run("film", "--out", "tracks.geff"), 0, []string{"frames in 40"}},
		{"Fiji's tracks", run("film", "--out", "tracks.xml"), 0, []string{"frames in 40"}},
		{"a table of a scene", run("sim:molecule", "--frames", "20", "--out", "scene.csv"), 0, []string{"frames in 20"}},
		{"a stream without a name", []string{"run", "bead 2.yaml", "--no-status"}, 0, []string{"stream film: "}},
		{"a model of another size", run("film", "--model", "embedded:molecule"), 1, []string{"200x200 pixels", "304x300"}},
		{"publish has --nats", []string{"publish", "film", "--subject", "a", "--nats", "embedded"}, 2, []string{"--nats: embedded"}},
		{"batch has --nats", []string{"batch", "film", "--nats", "embedded"}, 2, []string{"--nats: embedded"}},
		{"the old --url", []string{"publish", "film", "--subject", "a", "--url", "embedded"}, 2, []string{"--nats: embedded"}},
		{"a server for others without users is refused", []string{"server", "--store", "s", "--listen", "4222"}, 2, []string{"expected HOST:PORT"}},
	} {
		o := drive(t, folder, step.args...)
		if o.status != step.status {
			t.Errorf("%s: status %d, expected %d", step.stumble, o.status, step.status)
		}
		for _, want := range step.sees {
			if !strings.Contains(o.out+o.errors, want) {
				t.Errorf("%s: %v shows no %q:\n%s%s", step.stumble, step.args, want, o.out, o.errors)
			}
		}
	}
	var geff map[string]any
	if text, err := os.ReadFile(filepath.Join(folder, "tracks.geff", ".zattrs")); err != nil || json.Unmarshal(text, &geff) != nil || geff["geff"] == nil {
		t.Errorf("tracks.geff: %v, %v", err, geff)
	}
	lower, upper := suite.Content(t, folder, "tracks.csv"), suite.Content(t, folder, "TRACKS.CSV")
	if !bytes.HasPrefix(lower, []byte("frame,particle,x,y,")) || bytes.Count(lower, []byte("\n")) != bytes.Count(upper, []byte("\n")) {
		t.Error("the ending in capitals is another table")
	}
	if scene := bytes.Count(suite.Content(t, folder, "scene.csv"), []byte("\n")); scene != 21 {
		t.Errorf("%d lines of a scene's table, expected a header and 20", scene)
	}
}

// TestCtrlC: every waiting command ends in order after Ctrl-C and prints a last line.
func TestCtrlC(t *testing.T) {
	suite.Long(t)
	store := t.TempDir()
	server := fmt.Sprintf("127.0.0.1:%d", bustest.FreePort(t))
	for _, step := range []struct {
		args   []string
		status int
		sees   string // text to wait for before Ctrl-C
		line   string // the last line after it
	}{
		{[]string{"server", "--store", store, "--listen", server}, 0, "NATS server on", "stopped"},
		{[]string{"demo", "--nats-port", "0", "--dashboard", "127.0.0.1:0"}, 0, "dashboard at", "next, your own film"},
		{[]string{"run", "sim:molecule", "--nats-port", "0", "--dashboard", "off", "--no-status"}, 0, "publishing on", "publishing on"},
	} {
		c := command(t, t.TempDir(), step.args...)
		problems, err := os.Create(filepath.Join(c.Dir, "said"))
		if err != nil {
			t.Fatal(err)
		}
		defer problems.Close()
		c.Stderr = problems
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); !strings.Contains(string(suite.Content(t, c.Dir, "said")), step.sees) && time.Now().Before(deadline); {
			time.Sleep(20 * time.Millisecond)
		}
		if err := c.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		c.Wait()
		all := string(suite.Content(t, c.Dir, "said"))
		lines := strings.Split(strings.TrimSpace(all), "\n")
		if status := c.ProcessState.ExitCode(); status != step.status || !strings.Contains(lines[len(lines)-1], step.line) {
			t.Errorf("%v: status %d, expected %d, and %q at the end:\n%s", step.args, status, step.status, step.line, all)
		}
	}
}

// TestServer: the program alone runs a site's server with users, which stores the resources of site init. Its passwords survive a restart,
// and it refuses clients without a password.
func TestServer(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	at := fmt.Sprintf("127.0.0.1:%d", bustest.FreePort(t))
	start := func() (end func()) {
		c := command(t, folder, "server", "--store", "nats", "--listen", at, "--users", "--camera", "bead", "--camera", "dot2")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
			if conn, err := net.Dial("tcp", at); err == nil {
				conn.Close()
				break
			}
		}
		return func() {
			if err := c.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
			if err := c.Wait(); err != nil {
				t.Error(err)
			}
		}
	}
	end := start()
	passwords := map[string]string{}
	for line := range strings.Lines(string(suite.Content(t, filepath.Join(folder, "nats"), "passwords"))) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		passwords[name] = value
	}
	if info, err := os.Stat(filepath.Join(folder, "nats", "passwords")); err != nil || info.Mode().Perm() != 0o600 || len(passwords) != 6 {
		t.Errorf("the passwords: %v, %v, %d of them, expected 6 that only the owner reads", info, err, len(passwords))
	}
	admin := fmt.Sprintf("nats://hall_admin:%s@%s", passwords["HALL_ADMIN_PASSWORD"], at)
	if o := drive(t, folder, "site", "init", "--nats", admin, "--camera", "bead"); o.status != 0 || !strings.Contains(o.out, "frames_camera_bead") {
		t.Errorf("site init: %d\n%s%s", o.status, o.out, o.errors)
	}
	end()
	end = start()
	defer end()
	if o := drive(t, folder, "site", "init", "--nats", admin); o.status != 0 || strings.Contains(o.out, "made") {
		t.Errorf("after a restart: %d\n%s%s", o.status, o.out, o.errors)
	}
	bead := fmt.Sprintf("nats://hall_bead:%s@%s", passwords["HALL_BEAD_PASSWORD"], at)
	if o := drive(t, folder, "publish", "sim:molecule?frames=20&realtime=false", "--subject", "camera.bead", "--nats", bead, "--durable", "--rate", "fastest"); o.status != 0 {
		t.Errorf("publish: %s", o.errors)
	}
	drive(t, folder, "publish", "sim:molecule?frames=2&realtime=false", "--subject", "camera.bead", "--nats", "nats://"+at).check(t, 1, "uthorization")
	drive(t, folder, "site", "init", "--nats", "nats://hall_admin:wrong@"+at).check(t, 1, "uthorization")
	drive(t, folder, "server", "--store", "nats", "--listen", at).check(t, 1, "in use")
	for want, args := range map[string][]string{
		"add --users":       {"--camera", "bead"},
		"lower-case letter": {"--users", "--camera", "a b"},
		"give both":         {"--cert", "c.pem"},
		"--store-gb":        {"--store-gb", "0"},
		"no such file":      {"--users", "--cert", "c.pem", "--key", "k.pem"},
		"found \"4222\"":    {"--listen", "4222"},
	} {
		drive(t, folder, append([]string{"server", "--store", "other"}, args...)...).check(t, 2, want)
	}
}

// TestExamples: every command's help has examples, and each example is a valid command line.
func TestExamples(t *testing.T) {
	k, err := kong.New(&commands{}, kong.Name("driftscope"), kong.Exit(func(int) {}))
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for path := range examples {
		left[path] = true
	}
	for _, leaf := range k.Model.Leaves(true) {
		path := leaf.Path()
		if leaf.Hidden || leaf.Parent != nil && leaf.Parent.Hidden {
			continue
		}
		if len(examples[path]) == 0 {
			t.Errorf("%s has no example", path)
		}
		delete(left, path)
		for _, line := range examples[path] {
			line = strings.TrimSuffix(strings.TrimPrefix(line, "source <("), ")")
			words := strings.Fields(line)
			if at, err := k.Parse(words[1:]); err != nil || words[0] != "driftscope" || at.Selected().Path() != path {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("examples of no command: %v", left)
	}
}
