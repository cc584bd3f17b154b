package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// TestKilledRecordings: after kill -9 every file with its final name is complete, and the next run writes new files next to it.
func TestKilledRecordings(t *testing.T) {
	folder := t.TempDir()
	text := `stream: killed
source: {sim: {name: molecule, realtime: true}}
nats: {url: off}
sinks:
  - jsonl: {path: out.jsonl, rotate_every: 1s}
  - csv: {path: out.csv, rotate_every: 1s}
  - parquet: {path: out.parquet, rotate_every: 1s}
`
	if err := os.WriteFile(filepath.Join(folder, "killed.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	found := func(pattern string) []string {
		paths, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		return paths
	}
	whole := 0
	for range 2 {
		before := len(found("*.latent.parquet"))
		c := command(t, folder, "run", "killed.yaml")
		var problems bytes.Buffer
		c.Stderr = &problems
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(patience); len(found("*.latent.parquet")) < before+2 && time.Now().Before(end); {
			time.Sleep(50 * time.Millisecond)
		}
		c.Process.Kill()
		c.Wait() // the error reports the kill
		if whole = len(found("*.latent.parquet")); whole < before+2 {
			t.Fatalf("found %d whole files, expected two more than %d\n%s", whole, before, problems.String())
		}
	}
	for _, path := range found("*.latent.parquet") {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		rows, err := parquet.OpenFile(f, info.Size())
		if err != nil || rows.NumRows() == 0 {
			t.Errorf("%s: %v", path, err)
		}
		f.Close()
	}
	latents := 0
	for _, path := range found("*.jsonl") {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			switch {
			case json.Valid([]byte(line)):
				latents += strings.Count(line, `"kind":"latent"`)
			case strings.HasSuffix(line, "\n"):
				t.Errorf("%s: found %q in the middle", path, line)
			}
		}
	}
	if latents == 0 {
		t.Error("no latent in JSON Lines")
	}
}
