package file

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
	"driftscope/sinks/sinktest"
)

func TestJSONL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	write := func(options map[string]any, messages ...latent.Message) {
		t.Helper()
		s, err := open("jsonl", sinktest.Decoder(t, options), silent)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		sinktest.Close(t, s)
	}
	write(map[string]any{"path": path}) // no message arrived, so no file remains
	write(map[string]any{"path": path}, sinktest.Estimate(6, 1), sinktest.Event())
	torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := torn.WriteString(`{"v":1,"ki`); err != nil {
		t.Fatal(err)
	}
	torn.Close()
	write(map[string]any{"path": path, "append": true}, sinktest.Health())
	_, want := sinktest.Lines(t, (&message.Encoder{Stream: "bead"}).Encode, sinktest.Estimate(6, 1), sinktest.Event())
	_, last := sinktest.Lines(t, (&message.Encoder{Stream: "bead"}).Encode, sinktest.Health())
	want = append(want, `{"v":1,"ki`, last[0], "")
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nexpected\n%s", got, strings.Join(want, "\n"))
	}
}

// TestJSONLFlushes: a line is in the file at most a second after Write.
func TestJSONLFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		s, err := open("jsonl", sinktest.Decoder(t, map[string]any{"path": path}), silent)
		if err != nil {
			t.Fatal(err)
		}
		defer sinktest.Close(t, s)
		for range 2 {
			if err := s.Write(t.Context(), sinktest.Event()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(flushEvery)
		}
		if got, err := os.ReadFile(path); err != nil || bytes.Count(got, []byte("\n")) != 2 {
			t.Errorf("found %q, %v", got, err)
		}
	})
}

func TestJSONLFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full, which is always full")
	}
	s, err := open("jsonl", sinktest.Decoder(t, map[string]any{"path": "/dev/full", "append": true}), silent)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = s.Write(t.Context(), sinktest.Estimate(1, 0))
	}
	if !strings.Contains(err.Error(), "/dev/full: no space left on device: messages are lost until the file can be written: free space") {
		t.Errorf("found %v", err)
	}
	if err := s.Close(context.Background()); err == nil {
		t.Error("closed as if all were written")
	}
}
