package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"driftscope/ingest"
	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// asDriftscope makes the test's own binary behave as driftscope, so that tests see exit statuses, output and signals as a user does.
const asDriftscope = "DRIFTSCOPE_TEST_AS_MAIN"

// patience is the time limit of one command, long enough for the race detector and a busy machine.
const patience = 10 * time.Minute

// command prepares driftscope with its own working folder.
func command(t *testing.T, folder string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, self, args...)
	c.Dir = folder
	c.Env = append(os.Environ(), asDriftscope+"=1")
	return c
}

// outcome is the result of a finished command.
type outcome struct {
	status      int
	out, errors string
	worked      time.Duration // processor time
}

// drive runs driftscope to its end.
func drive(t *testing.T, folder string, args ...string) outcome {
	t.Helper()
	c := command(t, folder, args...)
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), out.String(), problems.String(), c.ProcessState.UserTime() + c.ProcessState.SystemTime()}
}

// check checks that a failed command follows the house's rules: its status, one line that names the problem, no stack trace.
func (o outcome) check(t *testing.T, status int, want string) {
	t.Helper()
	if o.status != status {
		t.Errorf("status %d, expected %d\n%s", o.status, status, o.errors)
	}
	lines := strings.Split(strings.TrimSpace(o.errors), "\n")
	last := lines[len(lines)-1]
	if strings.HasPrefix(last, "driftscope"+console.More) && len(lines) > 1 {
		last = lines[len(lines)-2]
	}
	if !strings.HasPrefix(last, "driftscope: ") || !strings.Contains(last, want) {
		t.Errorf("found %q, expected driftscope: ... %s", last, want)
	}
	if strings.Contains(o.errors, "goroutine ") || strings.Contains(o.errors, "SIGABRT") {
		t.Errorf("a stack trace:\n%s", o.errors)
	}
}

// The last line names a page with details, and the page exists.
func TestMistakesNameTheirPage(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "torn.yaml"), []byte("stream: [1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "text.tif"), []byte("this is no picture\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, page := range map[string]string{
		"probe none.mp4":           console.RecordingsPage,
		"probe text.tif":           console.RecordingsPage,
		"run text.tif --nats off":  console.RecordingsPage,
		"run torn.yaml":            console.ConfigurationPage,
		"run camera:99 --nats off": console.CamerasPage,
		"run nats:a..b --nats off": console.FramesPage,
		"run sim:none --nats off":  console.ConfigurationPage,
		"eval --model none.onnx --video sim:molecule --truth centroid": console.ModelsPage,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			o := drive(t, folder, strings.Fields(args)...)
			if o.status == 0 || !strings.HasSuffix(o.errors, "\ndriftscope"+console.More+page+"\n") {
				t.Errorf("status %d, expected the page %s at the end:\n%s", o.status, page, o.errors)
			}
			if _, err := os.Stat(filepath.Join(root, page)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("unknown.yaml", "source: sim\nnats: {prot: 1}\n")
	write("nosuch.yaml", "source: {telescope: {}}\n")
	write("option.yaml", "source: {sim: {name: molecule, sede: 1}}\n")
	write("wild.yaml", "stream: \"*\"\nsource: sim\n")
	write("open.yaml", "source: {sim: {name: molecule}}\ndashboard: {address: '0.0.0.0:8300'}\n")
	write("kept.yaml", "source: {sim: {name: molecule}}\nonline: {state: nodir/law}\n")
	write("step.yaml", "source: {sim: {name: molecule}}\npreprocess: [{clahe: {}}]\n")
	write("gone.yaml", "source: {directory: {path: gone, follow: true, until_idle: 100ms}}\nnats: {url: off}\n")
	write("text.tif", "this is no picture\n")
	write("empty.tif", "")
	write("notes.onnx", "this is no model\n")
	for _, test := range []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"unknown command", []string{"fly"}, 2, "--help"},
		{"unknown flag", []string{"run", "sim:molecule", "--fly"}, 2, ": driftscope run --help lists"},
		{"unknown key", []string{"run", "unknown.yaml"}, 2, `unknown.yaml:2: unknown key "nats.prot"`},
		{"no such file", []string{"run", "none.yaml"}, 2, "none.yaml: cannot be opened"},
		{"nothing to follow", []string{"run", "gone.yaml"}, 1, "no frame of gone could be read"},
		{"unknown source", []string{"lint", "nosuch.yaml"}, 2, `"telescope" is not known`},
		{"unknown option", []string{"lint", "option.yaml"}, 2, `option.yaml:1: unknown key "source.sim.sede"`},
		{"other steps", []string{"lint", "step.yaml"}, 2, "the model was trained with"},
		{"open dashboard in a file", []string{"lint", "open.yaml"}, 2, "give dashboard.token"},
		{"state in no folder in a file", []string{"lint", "kept.yaml"}, 2, "nodir/law: cannot create the file"},
		{"no such source", []string{"probe", "none.mp4"}, 2, "none.mp4"},
		{"text named tif", []string{"probe", "text.tif"}, 1, "text.tif"},
		{"empty file", []string{"probe", "empty.tif"}, 1, "empty.tif"},
		{"both rates", []string{"probe", "sim:molecule", "--dt", "1", "--fps", "1"}, 2, "give one of them"},
		{"not a model", []string{"run", "sim:molecule", "--model", "notes.onnx"}, 2, "notes.onnx"},
		{"no model's file", []string{"run", "sim:molecule", "--model", "gone.onnx"}, 2, "or embedded:molecule"},
		{"no such model", []string{"run", "sim:molecule", "--model", "embedded:moon"}, 2, "embedded:moon"},
		{"no such model to continue", []string{"pretrain", "sim:molecule", "--from", "embedded:moon", "--out", "x.onnx"}, 2, "--from embedded:moon: "},
		{"model in no folder", []string{"pretrain", "sim:molecule", "--latent", "2", "--out", "nodir/x.onnx"}, 2, "--out nodir/x.onnx: cannot create the file"},
		{"frames to fit no map on", []string{"eval", "--model", "embedded:molecule", "--video", "sim:molecule", "--truth", "centroid", "--fit-frames", "0:5"}, 2, "--fit-frames 0:5: needs --align affine"},
		{"assets of a recording", []string{"pretrain", "text.tif", "--latent", "2", "--assets", ".", "--out", "x.onnx"}, 2, "text.tif is a recording"},
		{"assets of another scene", []string{"pretrain", "sim:balls-ou", "--latent", "2", "--assets", ".", "--out", "x.onnx"}, 2, "leave assets out"},
		{"no assets", []string{"eval", "--model", "embedded:molecule", "--video", "sim:digits-ou", "--truth", "centroid", "--assets", "."}, 2, folder + " holds no digits"},
		{"dashboard nowhere", []string{"run", "sim:molecule", "--dashboard", "8300"}, 2, "dashboard.address: found"},
		{"open dashboard", []string{"run", "sim:molecule", "--nats-port", "0", "--dashboard", "0.0.0.0:0"}, 2, "give dashboard.token"},
		{"dashboard of the inside", []string{"dashboard", "--nats", "embedded", "--websocket", "ws://127.0.0.1:1"}, 2, "--nats: embedded"},
		{"dashboard of a word", []string{"dashboard", "--nats", "foo", "--websocket", "ws://127.0.0.1:1"}, 2, `found "foo", expected nats://host:port or context:NAME`},
		{"watching nothing", []string{"watch", "--nats", "off"}, 2, `found "off", expected nats://host:port or context:NAME`},
		{"publishing to a word", []string{"publish", "text.tif", "--subject", "cam", "--url", "foo"}, 2, `found "foo"`},
		{"dashboard of nothing", []string{"dashboard", "--dashboard", "off", "--websocket", "ws://127.0.0.1:1"}, 2, "--dashboard: off"},
		{"latest of a recording", []string{"run", "sim:balls-ou", "--mode", "latest", "--nats", "off", "--no-status"}, 2, "leave mode out"},
		{"several results", []string{"run", "sim:balls-ou", "sim:molecule", "--out", "x.jsonl"}, 2, "--out x.jsonl: works with one source"},
		{"followed simulation", []string{"run", "sim:molecule", "--follow"}, 2, "sim:molecule is read as sim"},
		{"idle without follow", []string{"run", "text.tif", "--until-idle", "3s"}, 2, "add follow"},
		{"bad stream", []string{"run", "sim:molecule", "--stream", "a.b"}, 2, "stream: found"},
		{"stream of all", []string{"run", "sim:molecule", "--stream", ">"}, 2, `stream: found ">"`},
		{"stream with a space", []string{"run", "sim:molecule", "--stream", "a b"}, 2, `stream: found "a b"`},
		{"stream with a line", []string{"run", "sim:molecule", "--stream", "a\r\nPUB x 0"}, 2, `stream: found "a\r\nPUB x 0"`},
		{"state in no folder", []string{"run", "sim:molecule", "--frames", "5", "--nats", "off", "--no-status", "--state", "nodir/law"}, 2, "--state: nodir/law: cannot create the file"},
		{"wildcard in a file", []string{"run", "wild.yaml"}, 2, `stream: found "*"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			drive(t, folder, test.args...).check(t, test.status, test.want)
		})
	}
}

func TestHelp(t *testing.T) {
	suite.Long(t)
	o := drive(t, t.TempDir(), "--help")
	for _, name := range []string{"run", "watch", "dashboard", "publish", "pretrain", "eval", "simulate", "sample", "probe", "lint", "sources", "version"} {
		if !strings.Contains(o.out, " "+name+" ") {
			t.Errorf("help does not list %s:\n%s", name, o.out)
		}
		if help := drive(t, t.TempDir(), name, "--help"); help.status != 0 || !strings.Contains(help.out, "Usage: driftscope "+name) {
			t.Errorf("%s --help: status %d\n%s%s", name, help.status, help.out, help.errors)
		}
	}
	if lines := strings.Count(o.out, "\n"); o.status != 0 || lines > 24 {
		t.Errorf("status %d and %d lines, expected 0 and those of a screen:\n%s", o.status, lines, o.out)
	}
	for name, want := range map[string]string{
		"simulate": "Number of frames. Default: 1000.",
		"watch":    "Default: nats://127.0.0.1:4222.",
		"pretrain": "The encoder's covariance, diagonal or cholesky (default: the recipe's).",
	} {
		if help := strings.Join(strings.Fields(drive(t, t.TempDir(), name, "--help").out), " "); !strings.Contains(help, want) {
			t.Errorf("%s --help: no %q in\n%s", name, want, help)
		}
	}
}

// TestSources: every kind has a line that describes its argument, and the search for cameras does not hang.
func TestSources(t *testing.T) {
	o := drive(t, t.TempDir(), "sources")
	if o.status != 0 {
		t.Fatalf("status %d\n%s", o.status, o.errors)
	}
	for _, kind := range ingest.Kinds() {
		if about[kind] == "" || !strings.Contains(o.out, about[kind]) {
			t.Errorf("nothing is said of %s:\n%s", kind, o.out)
		}
	}
	for _, want := range []string{"OpenCV's FFMPEG: yes", "Aravis", "cameras found\n  "} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s", want, o.out)
		}
	}
}

func TestShippedConfigurations(t *testing.T) {
	suite.Long(t)
	files, err := filepath.Glob("../../configs/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no configurations: %v", err)
	}
	for _, file := range files {
		path, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			if o := drive(t, t.TempDir(), "lint", path); o.status != 0 || o.out != "ok\n" {
				t.Fatalf("lint: status %d, %s%s", o.status, o.out, o.errors)
			}
			folder, want := t.TempDir(), "frames in 20, "
			switch filepath.Base(file) {
			case "tail.yaml": // a recording that another process is writing
				if o := drive(t, folder, "simulate", "molecule", "--frames", "20", "--out", "recording"); o.status != 0 {
					t.Fatal(o.errors)
				}
			case "camera.yaml":
				suite.StartCamera(t)
				want = "frames in " // also if frames were lost
			}
			o := drive(t, folder, "run", path, "--frames", "20", "--nats-port", "0")
			if o.status != 0 || !strings.Contains(o.out, want) {
				t.Errorf("run: status %d\n%s%s", o.status, o.out, o.errors)
			}
		})
	}
}

// After one Ctrl-C the frame counts are printed within the 5 s that the README promises.
func TestInterrupt(t *testing.T) {
	c := command(t, t.TempDir(), "run", "sim:molecule", "--nats", "off", "--no-status", "--out", "out.jsonl")
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	waitForFile(t, filepath.Join(c.Dir, "out.jsonl"))
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
	if !strings.Contains(out.String(), "frames in ") {
		t.Errorf("no account:\n%s", out.String())
	}
}

// waitForFile returns once path has content.
func waitForFile(t *testing.T, path string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-tick.C {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
	}
	t.Fatalf("%s stayed empty", path)
}

// The same seed gives the same latents and the same law, whatever the machine's load.
func TestSameSeedSameOutput(t *testing.T) {
	run := func(seed string) string {
		folder := t.TempDir()
		// balls-ou comes as fast as it is tracked, so that no frame depends on the clock.
		o := drive(t, folder, "run", "sim:balls-ou", "--frames", "60", "--seed", seed, "--nats", "off", "--no-status", "--out", "out.jsonl")
		if o.status != 0 {
			t.Fatal(o.errors)
		}
		return latents(t, filepath.Join(folder, "out.jsonl"))
	}
	first := run("3")
	if first != run("3") {
		t.Error("the same seed gave other latents")
	}
	if first == run("4") {
		t.Error("another seed gave the same latents")
	}
}

// latents reads the z of every line that has one.
func latents(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	n := 0
	for line := range bytes.Lines(data) {
		var message struct {
			Z     json.RawMessage `json:"z"`
			Drift json.RawMessage `json:"drift"`
		}
		if err := json.Unmarshal(line, &message); err != nil {
			t.Fatal(err)
		}
		if message.Z != nil {
			n++
			all.Write(message.Z)
			all.Write(message.Drift)
		}
	}
	if n < 60 {
		t.Fatalf("%d latents, expected 60", n)
	}
	return all.String()
}

// TestProbeStarts: the files from probe --out can be viewed, checked and run.
func TestProbeStarts(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "molecule", "--frames", "20", "--out", "it's here"); o.status != 0 {
		t.Fatal(o.errors)
	}
	o := drive(t, folder, "probe", "it's here", "--out", "found")
	for _, want := range []string{"stored", "PNG", "jitter 0 s", "20, read to the end"} {
		if o.status != 0 || !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s%s", want, o.out, o.errors)
		}
	}
	picture, err := os.Open(filepath.Join(folder, "found", "preview.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if shown, err := png.Decode(picture); err != nil || shown.Bounds().Dx() != 512 {
		t.Errorf("preview.png: %v", err)
	}
	drive(t, folder, "probe", "it's here", "--out", "found").check(t, 2, "stream.yaml exists already")
	o = drive(t, folder, "probe", "it's here", "--fps", "25", "--out", "timed")
	if hint := string(suite.Content(t, folder, "timed/stream.yaml")); !strings.Contains(hint, "--latent auto --fps 25 --out") || !strings.Contains(hint, "fps: 25") {
		t.Errorf("the rate is not in the training's command:\n%s%s", hint, o.errors)
	}
	elsewhere := t.TempDir() // the source has an absolute path
	start := filepath.Join(folder, "found", "stream.yaml")
	if o := drive(t, elsewhere, "lint", start); o.status != 0 {
		t.Errorf("lint: %s", o.errors)
	}
	if o := drive(t, elsewhere, "run", start, "--nats", "off", "--no-status"); o.status != 0 || !strings.Contains(o.out, "frames in 20, tracked 20") {
		t.Errorf("run: status %d\n%s%s", o.status, o.out, o.errors)
	}
}

func TestProbeSimulation(t *testing.T) {
	o := drive(t, t.TempDir(), "probe", "sim:molecule", "--frames", "5")
	for _, want := range []string{"512 x 512 pixels", "uint16, 1 channel", "5 read; there are more"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("no %q in\n%s%s", want, o.out, o.errors)
		}
	}
}
