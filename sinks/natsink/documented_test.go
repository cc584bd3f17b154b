package natsink

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

// documented compiles the Go program under a heading of docs/howto/control.md, and returns the path of the executable.
func documented(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/howto/control.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n"+heading+"\n")
	_, rest, _ := strings.Cut(section, "```go\n")
	source, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatalf("docs/howto/control.md has no Go program under %q", heading)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "loop.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "loop")
	if out, err := exec.Command("go", "build", "-o", program, filepath.Join(folder, "loop.go")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

// listening starts the sink of a stream and the Go program under a heading of docs/howto/control.md. It returns the sink, the commands that
// the program sends, and a function that ends the program and returns its output.
func listening(t *testing.T, heading string) (s *Sink, applied <-chan latent.Command, ended func() string) {
	t.Helper()
	program := documented(t, heading)
	server := bustest.Start(t, "")
	b, err := bus.Connect(t.Context(), bus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	sink, commands := newControlled(t, Env{Stream: "molecule", Bus: b})
	t.Cleanup(func() { sinktest.Close(t, sink) })
	var printed bytes.Buffer
	loop := exec.Command(program, server.URL())
	loop.Stdout, loop.Stderr = &printed, &printed
	if err := loop.Start(); err != nil {
		t.Fatal(err)
	}
	return sink, commands, func() string {
		loop.Process.Kill()
		loop.Wait() // its error only reports the kill
		return printed.String()
	}
}

// TestDocumentedLoop: the control loop in docs/howto/control.md, compiled unchanged, freezes and resumes by itself, and ignores late latents.
func TestDocumentedLoop(t *testing.T) {
	t.Parallel()
	s, applied, ended := listening(t, "## In Go")
	until := func(level latent.Level, want string) { // the program subscribes some time after its start
		t.Helper()
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
			if err := s.Write(t.Context(), &latent.Event{Time: time.Now(), Level: level, Code: "unlike_training"}); err != nil {
				t.Fatal(err)
			}
			select {
			case c := <-applied:
				if c.Name == want {
					return
				}
			case <-time.After(100 * time.Millisecond):
			}
		}
		t.Errorf("%s was not commanded", want)
	}
	until(latent.Warning, "freeze")
	until(latent.Info, "resume")
	old, fresh, undated := sinktest.Estimate(0, 0), sinktest.Estimate(1, 0), sinktest.Estimate(2, 0)
	old.Filtered[0], old.Latent.Time = 0.111, time.Now().Add(-time.Second)
	fresh.Filtered[0], fresh.Latent.Time = 0.222, time.Now().Add(time.Second)
	undated.Filtered[0], undated.Latent.Time = 0.333, time.Unix(5, 0)
	for _, m := range []latent.Message{old, fresh, undated} {
		if err := s.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(300 * time.Millisecond)
	if text := ended(); !strings.Contains(text, "0.222") || strings.Contains(text, "0.111") || !strings.Contains(text, "0.333") {
		t.Errorf("found %q, expected to be steered by the fresh latent, and by the simulation's", text)
	}
}

// TestDocumentedGrafana: the dashboard of docs/howto/grafana.md asks for what the plugin's queries have, and its scripts make one flat row of every
// record that this program writes.
func TestDocumentedGrafana(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("DRIFTSCOPE_TEST_TOOLS") != "" {
			t.Fatal("node is not installed: internal/setup/install.sh tests installs it")
		}
		t.Skip("node is not installed: internal/setup/install.sh tests installs it")
	}
	text, err := os.ReadFile("../../docs/grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []map[string]any
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	records := map[string]string{}
	kinds, written := sinktest.Lines(t, (&message.Encoder{Stream: "bead"}).Encode, sinktest.Estimate(6, 1), sinktest.Event(), sinktest.Health())
	for i, kind := range kinds {
		records[string(kind)] = written[i]
	}
	records[SampledToken] = records[string(latent.KindLatent)]
	var runs []map[string]any
	for _, panel := range dashboard.Panels {
		query := panel.Targets[0]
		token, ok := strings.CutPrefix(query["natsSubject"].(string), "driftscope.local.molecule.")
		if !ok || records[token] == "" || query["queryType"] != "SUBSCRIBE" || len(panel.Targets) != 1 {
			t.Fatalf("%s: found %v", panel.Title, query)
		}
		for key := range query {
			if !slices.Contains([]string{"refId", "datasource", "queryType", "natsSubject", "requestTimeout", "requestData", "jsFn"}, key) {
				t.Errorf("%s: the plugin knows no %s", panel.Title, key)
			}
		}
		runs = append(runs, map[string]any{"title": panel.Title, "script": query["jsFn"], "data": records[token]})
	}
	if len(runs) < 6 {
		t.Fatalf("%d panels", len(runs))
	}
	input, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	check := exec.Command(node, "-e", `
		for (const { title, script, data } of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
			const row = new Function("msg", '"use strict";' + script)({ Data: data });
			const cells = Object.entries(row);
			const flat = cells.every(([, v]) => Number.isFinite(v) || typeof v === "string" || v instanceof Date);
			if (!flat || !(row.time instanceof Date) || cells.length < 2) console.log(title, row);
		}`)
	check.Stdin = bytes.NewReader(input)
	if out, err := check.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("no flat row with a time: %s %v", out, err)
	}
}

// TestDocumentedStage: the stage program of docs/howto/control.md freezes the law, moves the stage and resumes when its rule begins, and does
// nothing when that rule ends or another rule begins.
func TestDocumentedStage(t *testing.T) {
	t.Parallel()
	s, applied, ended := listening(t, "## A stage that follows the molecule")
	edge, over, other := sinktest.Trigger(1), sinktest.Trigger(2), sinktest.Trigger(3)
	edge.Name, over.Name, over.On = "edge", "edge", false
	var commands []string
	for end := time.Now().Add(20 * time.Second); len(commands) < 2 && time.Now().Before(end); { // the program subscribes some time after its start
		for _, m := range []latent.Message{other, over, edge} {
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case c := <-applied:
			commands = append(commands, c.Name, (<-applied).Name)
		case <-time.After(100 * time.Millisecond):
		}
	}
	if text := ended(); !slices.Equal(commands, []string{"freeze", "resume"}) || !strings.HasPrefix(text, "stage: -5.5 -247.0 px\n") {
		t.Errorf("commanded %v and printed %q", commands, text)
	}
}
