package main

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"driftscope/internal/suite"
)

// A live run can be repeated from its own results, although its refinements are applied when ready and frames may be dropped.
func TestRepeat(t *testing.T) {
	suite.Long(t)
	folder := t.TempDir()
	write := func(name, realtime string) {
		text := "stream: molecule\nsource: {sim: {name: molecule, seed: 1, frames: 260, realtime: " + realtime + "}}\nonline: {refine_lag: 20}\nnats: {url: \"off\"}\n"
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("live.yaml", "true")
	write("again.yaml", "false")
	if o := drive(t, folder, "run", "live.yaml", "--out", "live.jsonl"); o.status != 0 {
		t.Fatal(o.errors)
	}
	if o := drive(t, folder, "run", "again.yaml", "--out", "again.jsonl", "--repeat", "live.jsonl"); o.status != 0 {
		t.Fatal(o.errors)
	}
	want, got := estimates(t, filepath.Join(folder, "live.jsonl")), estimates(t, filepath.Join(folder, "again.jsonl"))
	if !bytes.Contains(want, []byte(`"drift_revision":1`)) {
		t.Error("the live run was never refined")
	}
	if !bytes.Equal(want, got) {
		t.Error("the estimates differ")
	}
	// A run on a recording ends with the law of the whole recording, and so does its repetition.
	for _, args := range [][]string{{"--out", "whole.jsonl"}, {"--out", "same.jsonl", "--repeat", "whole.jsonl"}} {
		if o := drive(t, folder, append([]string{"run", "again.yaml"}, args...)...); o.status != 0 {
			t.Fatal(o.errors)
		}
	}
	whole := estimates(t, filepath.Join(folder, "whole.jsonl"))
	if !bytes.Contains(whole, []byte(`"drift_frame":260`)) {
		t.Error("the last frames were not learnt from")
	}
	if !bytes.Equal(whole, estimates(t, filepath.Join(folder, "same.jsonl"))) {
		t.Error("the estimates of the recording differ")
	}
	// A repetition does not continue the run's stored state, and counts nothing twice.
	var kept [2][]byte
	for i, args := range [][]string{{"--out", "kept.jsonl"}, {"--out", "keptagain.jsonl", "--repeat", "kept.jsonl"}} {
		if o := drive(t, folder, append([]string{"run", "again.yaml", "--state", "law"}, args...)...); o.status != 0 {
			t.Fatal(o.errors)
		}
		kept[i] = suite.Content(t, folder, "law")
	}
	if !bytes.Equal(kept[0], kept[1]) || !bytes.Equal(estimates(t, filepath.Join(folder, "kept.jsonl")), estimates(t, filepath.Join(folder, "keptagain.jsonl"))) {
		t.Error("the repetition went on from the law that the run kept")
	}
	steered := append(suite.Content(t, folder, "kept.jsonl"), `{"v":1,"kind":"event","seq":259,"time":"2026-01-01T00:00:00Z","level":"info","code":"command_freeze","text":"","count":1}`...)
	if err := os.WriteFile(filepath.Join(folder, "steered.jsonl"), steered, 0o644); err != nil {
		t.Fatal(err)
	}
	o := drive(t, folder, "run", "again.yaml", "--repeat", "steered.jsonl")
	o.check(t, 2, "command_freeze after frame 259")
	o = drive(t, folder, "run", "live.yaml", "--repeat", "live.jsonl")
	o.check(t, 2, "a live source cannot be read again")
	if err := os.WriteFile(filepath.Join(folder, "torn.jsonl"), []byte("{\"kind\":\"latent\""), 0o644); err != nil {
		t.Fatal(err)
	}
	o = drive(t, folder, "run", "again.yaml", "--repeat", "torn.jsonl")
	o.check(t, 2, "torn.jsonl:1")
}

// The next run continues a stored law. A file without a law is refused and not changed.
func TestStateGoesOn(t *testing.T) {
	folder := t.TempDir()
	run := func(out string) outcome {
		return drive(t, folder, "run", "sim:molecule", "--frames", "120", "--mode", "lossless", "--nats", "off", "--no-status", "--state", "law", "--out", out)
	}
	if o := run("first.jsonl"); o.status != 0 {
		t.Fatal(o.errors)
	}
	o := run("second.jsonl")
	if o.status != 0 || !strings.Contains(o.out+o.errors, "continues from law") {
		t.Fatalf("%+v", o)
	}
	if results := estimates(t, filepath.Join(folder, "second.jsonl")); !bytes.Contains(results, []byte(`"transitions":238`)) { // 2 × 119: no transition joins the runs
		t.Error("the second run's law does not rest on both")
	}
	if err := os.WriteFile(filepath.Join(folder, "law"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	run("third.jsonl").check(t, 2, "online.state: law: unusable checkpoint")
}

// estimates returns the latents and laws of a result file, without data that depends on the machine's speed: latencies and drops.
func estimates(t *testing.T, path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	speed := regexp.MustCompile(`"(latency_ms|dropped_before)":[^,}]*`)
	var out bytes.Buffer
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		if line := lines.Bytes(); bytes.Contains(line, []byte(`"kind":"latent"`)) || bytes.Contains(line, []byte(`"kind":"sde"`)) {
			out.Write(speed.ReplaceAll(line, nil))
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}
