package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"driftscope/internal/suite"
)

// fakePython puts a shell script named python3 first in the path; without a body nothing of that name is to be found.
func fakePython(t *testing.T, body string) {
	t.Helper()
	folder := t.TempDir()
	if body == "" {
		t.Setenv("PATH", folder)
		return
	}
	if err := os.WriteFile(filepath.Join(folder, "python3"), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
}

// benchTrain runs the command briefly and gives what it printed as JSON. No time is held to anything: machines differ.
func benchTrain(t *testing.T) map[string]any {
	t.Helper()
	o := drive(t, t.TempDir(), "bench", "train", "--frames", "8", "--steps", "1", "--threads", "1", "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(o.out), &got); o.status != 0 || err != nil {
		t.Fatalf("status %d, %v\n%s%s", o.status, err, o.out, o.errors)
	}
	for _, key := range []string{"forward_ms_per_frame", "backward_ms_per_frame", "optimiser_ms_per_frame", "train_ms_per_frame", "peak_mib", "frames", "threads", "cores"} {
		if v, ok := got[key].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v, expected a positive number", key, got[key])
		}
	}
	return got
}

func TestBenchTrainBesideTorch(t *testing.T) {
	suite.Long(t)
	fakePython(t, `echo warning: this torch is a fake
echo '{"forward_ms_per_frame": 1, "backward_ms_per_frame": 2, "optimiser_ms_per_frame": 1, "train_ms_per_frame": 4, "peak_mib": 512, "version": "'$OMP_NUM_THREADS.$OMP_WAIT_POLICY'"}'`)
	got := benchTrain(t)
	if ratio := got["ratio"]; ratio != got["train_ms_per_frame"].(float64)/4 {
		t.Errorf("ratio is %v at %v ms a frame against 4", ratio, got["train_ms_per_frame"])
	}
	if ratio := got["ratio_peak"]; ratio != got["peak_mib"].(float64)/512 {
		t.Errorf("ratio_peak is %v at %v MiB against 512", ratio, got["peak_mib"])
	}
	torch, ok := got["torch"].(map[string]any)
	if !ok || torch["train_ms_per_frame"] != 4.0 {
		t.Fatalf("torch is %v", got["torch"])
	}
	if torch["version"] != "1."+got["omp_wait_policy"].(string) {
		t.Errorf("OpenMP was told %v, expected one thread and our own policy, %v", torch["version"], got["omp_wait_policy"])
	}
}

func TestBenchTrainWithoutPython(t *testing.T) {
	fakePython(t, "")
	got := benchTrain(t)
	for _, key := range []string{"torch", "ratio"} {
		if v, there := got[key]; !there || v != nil {
			t.Errorf("%s is %v, expected null", key, v)
		}
	}
	if why, _ := got["torch_missing"].(string); !strings.Contains(why, "apt-get install python3-torch") {
		t.Errorf("torch_missing is %q, expected what to install", why)
	}
}

func TestBenchTrainMistakes(t *testing.T) {
	for _, flag := range []string{"--frames=7", "--frames=2", "--frames=100000", "--threads=-1", "--steps=0"} {
		name, _, _ := strings.Cut(flag, "=")
		drive(t, t.TempDir(), "bench", "train", flag).check(t, 2, name+": found")
	}
}

// What happens to python3 is told in one line that names it, in time.
func TestTorchFails(t *testing.T) {
	for _, test := range []struct{ name, body, want string }{
		{"none", "", "apt-get install python3-torch"},
		{"no torch", `echo 'Traceback:
ModuleNotFoundError: No module named '"'torch'" >&2; exit 1`, "apt-get install python3-torch"},
		{"crash", "echo terminate called >&2; kill -SEGV $$", "segmentation fault"},
		{"exit", "echo out of memory >&2; exit 3", "exit status 3: out of memory"},
		{"garbage", "echo hello", `printed "hello", expected one JSON object`},
		{"silence", "exit 0", `printed "", expected one JSON object`},
		{"flood", "yes | head -c 10000000", `printed "y", expected one JSON object`},
		{"no figures", "echo '{}'", "expected positive figures"},
		{"hang", "sleep 1000", "no answer within 200ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fakePython(t, test.body)
			limit := patience
			if test.name == "hang" {
				limit = 200 * time.Millisecond
			}
			_, err := (&benchTrainCmd{Frames: 8, Threads: 1, Steps: 1}).torch(t.Context(), limit)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "python3") || strings.Contains(err.Error(), "\n") {
				t.Errorf("found %v, expected one line with %q", err, test.want)
			}
		})
	}
}

// The script itself, where Debian's PyTorch or another is installed.
func TestTorchStep(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:"+os.Getenv("PATH"))
	cost, err := (&benchTrainCmd{Frames: 8, Threads: 1, Steps: 1}).torch(t.Context(), patience)
	if err != nil && strings.Contains(err.Error(), "apt-get install") {
		t.Skip(err)
	}
	if err != nil || cost.Version == "" {
		t.Errorf("%+v, %v", cost, err)
	}
}

func TestMedianCost(t *testing.T) {
	got := medianCost([]stepCost{{Forward: 3, Train: 9, Peak: 1}, {Forward: 1, Train: 7, Peak: 5}, {Forward: 2, Train: 8, Peak: 4}})
	if got.Forward != 2 || got.Train != 8 || got.Peak != 5 {
		t.Errorf("%+v, expected medians 2 and 8, and the largest peak", got)
	}
}

func TestTrainFindingsInWords(t *testing.T) {
	f := trainFindings{stepCost: stepCost{Forward: 1, Backward: 2, Optimiser: 1, Train: 2, Peak: 300}, Frames: 100, Threads: 2, Cores: 2, Missing: "python3 is away"}
	var out bytes.Buffer
	f.print(&out)
	if !strings.Contains(out.String(), "Not compared with PyTorch: python3 is away") || strings.Contains(out.String(), "ratio") {
		t.Errorf("alone it says\n%s", &out)
	}
	f.oppose(stepCost{Forward: 2, Backward: 4, Optimiser: 1, Train: 5, Peak: 400, Version: "1.13"})
	out.Reset()
	f.print(&out)
	if !strings.Contains(out.String(), "0.40 of PyTorch's time and 0.75 of its memory") || !strings.Contains(out.String(), "PyTorch 1.13") {
		t.Errorf("beside PyTorch it says\n%s", &out)
	}
}
