package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"driftscope/internal/flow/bus/bustest"
)

// One process publishes two cameras, compressed and stored; a run reads one of them later, completely and deterministically. A source that fails
// does not end the other, and the exit status reports it.
func TestPublishDurable(t *testing.T) {
	folder := t.TempDir()
	for name, frames := range map[string]string{"one": "40", "two": "8"} {
		if o := drive(t, folder, "simulate", "molecule", "--frames", frames, "--out", name); o.status != 0 {
			t.Fatal(o.errors)
		}
	}
	if err := os.Mkdir(filepath.Join(folder, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	server := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
	o := drive(t, folder, "publish", "one", "empty", "two", "--subject", "lab.a", "--subject", "lab.x", "--subject", "lab.b", "--url", server.URL(),
		"--rate", "fastest", "--durable", "--max-bytes", "67108864", "--compress", "zstd")
	if o.status != 1 || !strings.Contains(o.errors, "lab.x: ") {
		t.Errorf("%d: %s", o.status, o.errors)
	}
	for _, want := range []string{"kept 40 frames (40 messages, ", "kept 8 frames (8 messages, ", "on lab.a at ", "on lab.b at "} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%s expected in %s", want, o.out)
		}
	}
	received := open(t, "nats", map[string]any{"subject": "lab.b", "url": server.URL(), "durable": map[string]any{"max_bytes": 1 << 30, "max_age": "1h", "replicas": 1}})
	film := open(t, "directory", map[string]any{"path": filepath.Join(folder, "two")})
	for {
		want, err := film.Read(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := received.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		sameFrame(t, got, want)
		want.Close()
		got.Close()
	}
	configuration := fmt.Sprintf("stream: a\nsource: {nats: {subject: lab.a, url: %q}}\nframes: {durable: true}\nnats: {url: 'off'}\nsinks: [jsonl: {path: out.jsonl}]\n", server.URL())
	if err := os.WriteFile(filepath.Join(folder, "a.yaml"), []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := drive(t, folder, "run", "a.yaml", "--frames", "40"); o.status != 0 || !strings.Contains(o.out, "frames in 40, tracked 40") {
		t.Errorf("%+v", o)
	}
}

// Usage errors are reported before a server is contacted.
func TestPublishSeveralRefused(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sim:molecule", "sim:molecule", "--subject", "a"}, "--subject: found 1 subjects for 2 sources"},
		{[]string{"sim:molecule", "sim:molecule", "--subject", "a", "--subject", "a"}, "--subject: found a twice"},
		{[]string{"sim:molecule", "--subject", "a", "--png", "--compress", "zstd"}, "give one of them"},
		{[]string{"sim:molecule", "--subject", "a", "--durable", "--max-bytes", "1"}, "max_bytes: found 1"},
	} {
		drive(t, folder, append([]string{"publish"}, c.args...)...).check(t, 2, c.want)
	}
}
