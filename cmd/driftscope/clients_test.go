package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/suite"
)

// python is a Python that has modules, such as Debian's where another one comes first in the path.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import "+strings.Join(modules, ", ")).Run() == nil {
			return name
		}
	}
	advice := fmt.Sprintf("no python3 has %s: internal/setup/install.sh tests installs them", strings.Join(modules, " and "))
	if os.Getenv(requireTools) != "" {
		t.Fatal(advice)
	}
	t.Skip(advice)
	return ""
}

// inPython prepares a command of a Python that has modules, in clients/python.
func inPython(t *testing.T, modules []string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), python(t, modules...), args...)
	c.Dir = "../../clients/python"
	c.Env = append(os.Environ(), "PYTHONPATH=src", "PYTHONDONTWRITEBYTECODE=1")
	return c
}

// TestPythonClient: the client's own tests, and its types.
func TestPythonClient(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	for _, c := range []*exec.Cmd{
		inPython(t, []string{"numpy", "pytest"}, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
		inPython(t, []string{"numpy", "mypy"}, "-m", "mypy", "--cache-dir", t.TempDir()),
	} {
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", c.Args, err, out)
		}
	}
}

// runBeside is a run that publishes on a server, until it is told to stop.
func runBeside(t *testing.T, args ...string) (ended func() string) {
	t.Helper()
	run := command(t, t.TempDir(), append([]string{"run", "--no-status", "--dashboard", "off"}, args...)...)
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		if err := run.Wait(); err != nil {
			t.Errorf("%v: %s", err, out.String())
		}
		return out.String()
	}
}

// told runs a script of clients/python/tests with the url of a server, and reads what it prints.
func told(t *testing.T, script, url string, into any) {
	t.Helper()
	c := inPython(t, []string{"numpy"}, filepath.Join("tests", script), url)
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, problems.String())
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("%s printed %q: %v", script, out.String(), err)
	}
	t.Log(strings.TrimSpace(out.String()))
}

// TestPythonFrames: frames from Python reach a run, and its tracks come back: the frames' own times, all of them, where the spots are, and commands are answered.
func TestPythonFrames(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	python(t, "numpy")
	server := bustest.Start(t, "max_payload: 40000\n") // a frame is three messages
	ended := runBeside(t, server.URL()+"/camera.beads", "--stream", "camera-beads", "--objects", "--mode", "lossless", "--nats", server.URL())
	var r struct {
		Frames, Lost, Seen, Numbers, Rows, Refused, Born, Ended, Unreadable int
		Source                                                              string
		Worst                                                               float64 `json:"worst_px"`
	}
	told(t, "roundtrip.py", server.URL(), &r)
	if r.Frames < 120 || r.Lost != 0 || r.Unreadable != 0 {
		t.Errorf("%d frames came back, %d lost between them, %d unreadable; 120 and none expected", r.Frames, r.Lost, r.Unreadable)
	}
	if r.Seen < 2*r.Frames || r.Worst > 0.5 { // 14,137 photons are located to 1.5/√14137 = 0.013 px; 0.5 px is another pixel
		t.Errorf("%d places in %d frames, the worst %.2f px from the truth: at least two of three spots and 0.5 px expected", r.Seen, r.Frames, r.Worst)
	}
	if r.Numbers != 3 || r.Rows < r.Seen || r.Born < 3 || r.Ended != 3 {
		t.Errorf("%d tracks of %d places, %d born and %d ended: three, and all places, expected", r.Numbers, r.Rows, r.Born, r.Ended)
	}
	if r.Refused != 409 || !strings.Contains(r.Source, "camera.beads") {
		t.Errorf("another model of a field was refused with %d, the source is %q", r.Refused, r.Source)
	}
	ended()
}

// TestPythonListens: latents, laws, triggers and events of a simulation come to Python, each message as its schema says, and it commands.
func TestPythonListens(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	python(t, "numpy")
	server := bustest.Start(t, "")
	folder := t.TempDir()
	written(t, folder, map[string]string{"a.yaml": fmt.Sprintf("stream: molecule\nsource: {sim: {name: molecule, seed: 1}}\nnats: {url: %q}\n"+
		"triggers: [{zone: {name: right, margin: 0, box: {z1: [0, 1000]}}}]\n", server.URL())})
	ended := runBeside(t, filepath.Join(folder, "a.yaml"))
	var r struct {
		Latents, Lost, Dimensions, Info, Unreadable int
		Trigger                                     string
		On                                          bool
		Triggers, Codes                             []string
		Sigma                                       []float64
	}
	told(t, "listening.py", server.URL(), &r)
	if r.Latents < 2 || r.Lost != 0 || r.Unreadable != 0 || r.Dimensions != 2 || r.Info != 2 || len(r.Sigma) != 2 {
		t.Errorf("%+v: latents of two dimensions without a gap expected", r)
	}
	if r.Trigger != "right" || !r.On || !slices.Equal(r.Triggers, []string{"right"}) {
		t.Errorf("%+v: the beginning of the trigger right expected", r)
	}
	for _, code := range []string{"command_freeze", "command_resume"} {
		if !slices.Contains(r.Codes, code) {
			t.Errorf("found the events %v, expected %s", r.Codes, code)
		}
	}
	ended()
}

// TestPythonReads: the tables and the recording that a run writes are layers for napari, and the same tracks from each format.
func TestPythonReads(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	python(t, "numpy")
	folder := t.TempDir()
	written(t, folder, map[string]string{"a.yaml": "source: {sim: {name: vesicle, seed: 1}}\nobjects: {enabled: true}\nrecord: {path: film.zarr}\n" +
		"sinks: [{geff: {path: tracks.geff}}, {trackmate: {path: tracks.xml}}, {jsonl: {path: tracks.jsonl}}, {csv: {path: tracks.csv, table: objects}}]\n"})
	run := command(t, folder, "run", "a.yaml", "--frames", "60", "--mode", "lossless", "--no-status", "--dashboard", "off")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var r struct {
		Tables map[string]struct{ Rows, Points, Tracks, Links int }
		Off    map[string]float64
		Links  map[string]float64 `json:"off_links"`
		Frames int
		Lit    float64
	}
	told(t, "tables.py", folder, &r)
	table := r.Tables["tracks.csv"]
	if table.Rows < 1000 || table.Tracks < 20 || len(r.Tables) != 4 || r.Frames != 60 || r.Lit < 0.5 {
		t.Errorf("%+v: thousands of places in 60 lit frames expected", r)
	}
	for name, other := range r.Tables {
		if other.Rows != table.Rows || other.Points != table.Rows || other.Tracks != table.Tracks {
			t.Errorf("%s has %+v, tracks.csv %+v: the same expected", name, other, table)
		}
		if lacks := table.Links - other.Links; lacks < 0 || lacks > table.Links/100 { // a graph has no edge into the first place that it knows of an object
			t.Errorf("%s has %d links, tracks.csv %d", name, other.Links, table.Links)
		}
		for what, off := range map[string]float64{"px": r.Off[name], "of p_link": r.Links[name]} {
			if off > 1e-4 { // JSON Lines have 4 decimals
				t.Errorf("%s is %g %s off tracks.csv", name, off, what)
			}
		}
		if _, ok := r.Off[name]; !ok {
			t.Errorf("%s was not compared", name)
		}
	}
}

// TestCClient: the example in C publishes frames and has their objects back, where they are.
func TestCClient(t *testing.T) {
	suite.Long(t)
	t.Parallel()
	compiler := tool(t, "cc", "gcc")
	folder := t.TempDir()
	program := filepath.Join(folder, "example")
	build := exec.CommandContext(t.Context(), compiler, "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", "-o", program, "example.c", "driftscope.c", "-lm")
	build.Dir = "../../clients/c"
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	server := bustest.Start(t, "max_payload: 20000\n") // a frame is three messages
	run := command(t, folder, "run", server.URL()+"/camera.spot", "--stream", "camera-spot", "--objects", "--nats", server.URL(), "--no-status", "--dashboard", "off")
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	printed, err := exec.CommandContext(t.Context(), program, "600", fmt.Sprint(server.Port())).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	run.Process.Signal(syscall.SIGINT)
	if err := run.Wait(); err != nil {
		t.Errorf("%v: %s", err, out.String())
	}
	lines := strings.Split(strings.TrimSpace(string(printed)), "\n")
	var published, came int
	if _, err := fmt.Sscanf(lines[len(lines)-1], "%d frames published, %d messages came", &published, &came); err != nil || published != 600 || came < 100 {
		t.Errorf("found %q, expected hundreds of messages: %s", lines[len(lines)-1], out.String())
	}
	places := 0
	for _, line := range lines[:len(lines)-1] {
		var r struct {
			X []float64 `json:"x_px"`
			Y []float64 `json:"y_px"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for i := range r.X {
			places++
			if off := math.Hypot(r.X[i]-64, r.Y[i]-64) - 30; math.Abs(off) > 0.5 { // of the circle that it goes round
				t.Errorf("a spot at %.2f, %.2f: %.2f px off its circle", r.X[i], r.Y[i], off)
			}
		}
	}
	if places == 0 {
		t.Errorf("no place was printed: %s", printed)
	}
}
