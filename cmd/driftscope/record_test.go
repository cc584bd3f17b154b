package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/ingest"
	"driftscope/ingest/recorder"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/config"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/stream"
)

// flaky is a camera that loses every 17th frame and reports it, and cannot read every 29th.
type flaky struct {
	pipeline.Source
	lost uint64
}

func (*flaky) Info() pipeline.Info { return pipeline.Info{Live: true} }

func (s *flaky) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		f, err := s.Source.Read(ctx)
		switch {
		case err != nil:
			return nil, err
		case f.Seq%17 == 16:
			s.lost++
		case f.Seq%29 == 28:
			f.Close()
			return nil, &pipeline.ErrSkip{Cause: "bad", Err: errors.New("bad")}
		default:
			f.Meta.Dropped, s.lost = s.lost, 0
			return f, nil
		}
		f.Close()
	}
}

// busy is a step that now and then takes longer than the queue can wait.
type busy struct{ frames int }

func (*busy) Can() pipeline.Abilities { return pipeline.Abilities{} }

func (b *busy) Apply(ctx context.Context, _ *frame.Frame) error {
	if b.frames++; b.frames%40 == 0 {
		return sleep(ctx, 150*time.Millisecond)
	}
	return nil
}

func (*busy) Close() error { return nil }

const replayed = "online: {refine_lag: 20}\nnats: {url: \"off\"}\n"

// trackLive tracks a live simulation that loses frames before and after the recorder, and returns the summary.
func trackLive(t *testing.T, folder string) pipeline.Summary {
	t.Helper()
	text := "source: {sim: {name: molecule, seed: 1, frames: 260, realtime: true}}\nsinks: [jsonl: {path: " + folder + "/live.jsonl}]\n" + replayed
	cfg, err := config.Parse("live.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	source, err := ingest.New(cfg.Source.Kind, cfg.Source.Decode)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := recorder.New(&flaky{Source: source}, filepath.Join(folder, "raw"), 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stream.Behind(t.Context(), cfg, nil, stream.Own{Source: kept})
	if err != nil {
		t.Fatal(err)
	}
	s.Stages.Steps = append(s.Stages.Steps, pipeline.NamedStep{Name: "busy", Steps: []pipeline.Step{&busy{}}})
	summary, err := s.Run(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return summary
}

// timings matches the fields that depend on the machine's speed, see docs/howto/replay.md.
var timings = regexp.MustCompile(`"latency_ms":[^,}]*`)

// results returns the lines of a file without their timings. It leaves out health, which is only timings and counts by cause, and events
// about losses on the live run's machine.
func results(t *testing.T, path string) (lines []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wall := regexp.MustCompile(`"time":"[^"]*"`)
	for line := range strings.Lines(string(data)) {
		switch {
		case strings.Contains(line, `"kind":"health"`):
			continue
		case strings.Contains(line, `"kind":"event"`):
			if regexp.MustCompile(`"code":"(queue_full|dropped_by_source|bad)"`).MatchString(line) {
				continue
			}
			line = wall.ReplaceAllString(line, "")
		}
		lines = append(lines, timings.ReplaceAllString(line, ""))
	}
	return lines
}

// A recording of a live run replays to the same lines, also if the live run lost frames.
func TestReplayIsIdentical(t *testing.T) {
	folder := t.TempDir()
	summary := trackLive(t, folder)
	for _, cause := range []string{"queue_full", "dropped_by_source", "bad"} {
		if summary.Dropped[cause] == 0 {
			t.Errorf("the live run lost no frame as %s: %v", cause, summary.Dropped)
		}
	}
	again := "stream: molecule\nsource: {recording: {path: raw}}\nmodel: embedded:molecule\nsinks: [jsonl: {path: again.jsonl}]\n" + replayed
	if err := os.WriteFile(filepath.Join(folder, "again.yaml"), []byte(again), 0o644); err != nil {
		t.Fatal(err)
	}
	o := drive(t, folder, "run", "again.yaml", "--repeat", "live.jsonl")
	if o.status != 0 {
		t.Fatal(o.errors)
	}
	want, got := results(t, filepath.Join(folder, "live.jsonl")), results(t, filepath.Join(folder, "again.jsonl"))
	if len(want) < 200 || !slices.ContainsFunc(want, func(l string) bool { return strings.Contains(l, `"drift_revision":1`) }) {
		t.Errorf("%d lines, never refined: too little was compared", len(want))
	}
	for i := range max(len(want), len(got)) {
		if i >= min(len(want), len(got)) || want[i] != got[i] {
			t.Fatalf("line %d of %d and %d:\nlive   %s\nreplay %s", i, len(want), len(got), at(want, i), at(got, i))
		}
	}
}

// at returns line i, or "" after the last line.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(none)"
}

// A run that is killed while it records leaves every frame that it had tracked.
func TestRecordKilled(t *testing.T) {
	folder := t.TempDir()
	run := command(t, folder, "run", "sim:molecule", "--nats", "off", "--no-status", "--record", "raw")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(folder, "raw", "recording.csv")
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(index); err == nil && info.Size() > 500 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing was recorded")
		}
	}
	if err := run.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	run.Wait() // killed
	data, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	film := open(t, "sim", map[string]any{"name": "molecule", "realtime": false})
	copied := open(t, "recording", map[string]any{"path": filepath.Join(folder, "raw")})
	for range bytes.Count(data, []byte("\n")) - 1 {
		want, err := film.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := copied.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sameFrame(t, got, want)
		want.Close()
		got.Close()
	}
}

// run --record stores the tracked frames. It refuses a folder with files, and a full disk ends only the recording.
func TestRunRecord(t *testing.T) {
	folder := t.TempDir()
	o := drive(t, folder, "run", "sim:balls-ou", "--frames", "20", "--nats", "off", "--no-status", "--record", "raw")
	if o.status != 0 || !strings.Contains(o.out, "recorded 20 frames (") {
		t.Fatalf("%+v", o)
	}
	first := open(t, "sim", map[string]any{"name": "balls-ou"})
	copied := open(t, "recording", map[string]any{"path": filepath.Join(folder, "raw")})
	for range 20 {
		want, err := first.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got, err := copied.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sameFrame(t, got, want)
		want.Close()
		got.Close()
	}
	if _, err := copied.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	drive(t, folder, "run", "sim:balls-ou", "--frames", "20", "--nats", "off", "--record", "raw").check(t, 2, "raw already contains frames-0001.tif: give a new folder")

	text := "source: {sim: {name: balls-ou}}\nsinks: [jsonl: {path: out.jsonl}]\nnats: {url: \"off\"}\nrecord: {path: small, max_gb: 0.0001}\n"
	if err := os.WriteFile(filepath.Join(folder, "small.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	o = drive(t, folder, "run", "small.yaml", "--frames", "20")
	lines, err := os.ReadFile(filepath.Join(folder, "out.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if o.status != 0 || !strings.Contains(o.out, "tracked 20") || !strings.Contains(o.out, "then stopped at frame ") || bytes.Count(lines, []byte(`"recording_stopped"`)) != 1 {
		t.Errorf("%+v\n%s", o, fmt.Sprintf("%.2000s", lines))
	}
}

// TestRunRecordOnFullDisk: if the recording's disk is full, tracking continues, every unrecorded frame is counted and published, and the run ends with
// status 1 and names the file.
func TestRunRecordOnFullDisk(t *testing.T) {
	disk, folder := bustest.SmallDisk(t, 4<<20), t.TempDir()
	for _, name := range []string{"raw", "raw.zarr"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(disk, name)
			defer os.RemoveAll(path)
			const frames = 200
			o := drive(t, folder, "run", "sim:balls-ou", "--frames", fmt.Sprint(frames), "--nats", "off", "--no-status", "--record", path, "--out", name+".jsonl")
			o.check(t, 1, path+"/")
			var recorded, missed, published int
			account := regexp.MustCompile(`driftscope: recorded (\d+) frames .* no space left .*; (\d+) frames not recorded`).FindStringSubmatch(o.errors)
			if account == nil {
				t.Fatal(o.errors)
			}
			fmt.Sscan(account[1]+" "+account[2], &recorded, &missed)
			if recorded < 50 || recorded+missed != frames || !strings.Contains(o.out, fmt.Sprintf("tracked %d", frames)) {
				t.Errorf("%d frames recorded, %d not: %s%s", recorded, missed, o.out, o.errors)
			}
			lines, err := os.ReadFile(filepath.Join(folder, name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(lines) {
				var e struct {
					Code  string
					Count int
				}
				if err := json.Unmarshal(line, &e); err != nil {
					t.Fatal(err)
				}
				if e.Code == "not_recorded" {
					published += e.Count
				}
			}
			if published != missed {
				t.Errorf("%d frames published as not recorded, expected %d", published, missed)
			}
		})
	}
}
