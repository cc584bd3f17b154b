package sinks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/bus"
	"driftscope/internal/latent"
)

func TestNew(t *testing.T) {
	b := newBus(t)
	exists := filepath.Join(t.TempDir(), "there.jsonl")
	if err := os.WriteFile(exists, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tables := filepath.Join(t.TempDir(), "there.csv")
	if err := os.WriteFile(filepath.Join(filepath.Dir(tables), "there.sde.csv"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		kind    string
		options map[string]any
		env     Env
		want    string
	}{
		"kind":         {"kafka", nil, Env{}, `sink kind "kafka" is not known: give one of csv, jsonl, nats, parquet, terminal`},
		"nats off":     {"nats", nil, Env{Stream: "bead"}, "set nats.url"},
		"nats stream":  {"nats", nil, Env{Stream: "bead.2", Bus: b}, "bead-2 would do"},
		"nats option":  {"nats", map[string]any{"url": "x"}, Env{Stream: "bead", Bus: b}, "url"},
		"term option":  {"terminal", map[string]any{"hertz": 5}, Env{}, "hertz"},
		"jsonl path":   {"jsonl", nil, Env{}, "path is missing"},
		"jsonl there":  {"jsonl", map[string]any{"path": exists}, Env{}, "append: true"},
		"jsonl folder": {"jsonl", map[string]any{"path": filepath.Join(exists, "a.jsonl")}, Env{}, "check the folder"},
		"jsonl option": {"jsonl", map[string]any{"file": "x"}, Env{}, "file"},
		"jsonl append": {"jsonl", map[string]any{"path": "x", "append": true, "rotate_mb": 1}, Env{}, "append: is of one file"},
		"csv path":     {"csv", nil, Env{}, "such as results.csv"},
		"csv append":   {"csv", map[string]any{"path": "x", "append": true}, Env{}, "append"},
		"csv there":    {"csv", map[string]any{"path": tables}, Env{}, "rotate_every to number the files"},
		"csv size":     {"csv", map[string]any{"path": "x", "rotate_mb": -1}, Env{}, "rotate_mb: found -1"},
		"csv time":     {"csv", map[string]any{"path": "x", "rotate_every": "1ms"}, Env{}, "rotate_every: found 1ms"},
		"csv keep":     {"csv", map[string]any{"path": "x", "keep": 3}, Env{}, "keep: is of files that follow each other"},
		"parquet keep": {"parquet", map[string]any{"path": "x", "keep": -3}, Env{}, "keep: found -3"},
		"parquet file": {"parquet", map[string]any{"path": filepath.Join(exists, "a")}, Env{}, "check the folder"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(test.kind, decoder(t, test.options), test.env)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("found %v, expected one line with %q", err, test.want)
			}
		})
	}
}

// TestNATS: a subscriber on its own socket receives, on the right subjects and in order, what was written.
func TestNATS(t *testing.T) {
	b := newBus(t)
	other, err := nats.Connect(b.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	sub, err := other.SubscribeSync("driftscope.local.bead.*")
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Flush(); err != nil {
		t.Fatal(err)
	}
	s, err := New("nats", decoder(t, nil), Env{Stream: "bead", Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	messages := []latent.Message{estimate(0, 0), estimate(1, 1), estimate(2, 1), event(), health(), view(), trigger(3), estimate(3, 2)}
	for _, m := range messages {
		if err := s.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	closeSink(t, s)
	kinds, want := lines(t, messages...)
	glances := 0
	for i := 0; i < len(want); i++ {
		m, err := sub.NextMsg(5 * time.Second)
		if err != nil {
			t.Fatalf("message %d: %v", i, err)
		}
		if m.Subject == "driftscope.local.bead.glance" {
			if string(m.Data) != want[max(i-1, 0)] && !strings.Contains(string(m.Data), `"seq":2`) { // the latent before, or the one owed
				t.Errorf("found a glance of %s after %s", m.Data, want[max(i-1, 0)])
			}
			glances++
			i--
			continue
		}
		if m.Subject != "driftscope.local.bead."+string(kinds[i]) || string(m.Data) != want[i] {
			t.Errorf("found %s %s\nexpected %s %s", m.Subject, m.Data, kinds[i], want[i])
		}
	}
	if glances < 2 { // the first latent and the last before health, however slow this machine is
		t.Errorf("found %d glances", glances)
	}
}

func TestNATSWhileServerIsAway(t *testing.T) {
	server, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	b, err := bus.Connect(t.Context(), bus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	s, err := New("nats", decoder(t, nil), Env{Stream: "bead", Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	for end := time.Now().Add(5 * time.Second); err == nil; time.Sleep(time.Millisecond) {
		if err = s.Write(t.Context(), estimate(1, 0)); time.Now().After(end) {
			t.Fatal("no write failed after the server ended")
		}
	}
	var lost interface{ Undelivered() bool }
	if !errors.As(err, &lost) || !lost.Undelivered() {
		t.Errorf("found %v, expected an error that costs one message", err)
	}
	closeSink(t, s)
}

func TestJSONL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	write := func(options map[string]any, messages ...latent.Message) {
		t.Helper()
		s, err := New("jsonl", decoder(t, options), Env{Stream: "bead"})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range messages {
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		closeSink(t, s)
	}
	write(map[string]any{"path": path}) // nothing came: nothing stays
	write(map[string]any{"path": path}, estimate(6, 1), event())
	torn, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := torn.WriteString(`{"v":1,"ki`); err != nil {
		t.Fatal(err)
	}
	torn.Close()
	write(map[string]any{"path": path, "append": true}, health())
	_, want := lines(t, estimate(6, 1), event())
	_, last := lines(t, health())
	want = append(want, `{"v":1,"ki`, last[0], "")
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != strings.Join(want, "\n") {
		t.Errorf("found\n%s\nexpected\n%s", got, strings.Join(want, "\n"))
	}
}

// TestJSONLFlushes: whoever follows the file sees a line at most a second after it was written.
func TestJSONLFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		s, err := New("jsonl", decoder(t, map[string]any{"path": path}), Env{Stream: "bead"})
		if err != nil {
			t.Fatal(err)
		}
		defer closeSink(t, s)
		for range 2 {
			if err := s.Write(t.Context(), event()); err != nil {
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
	s, err := New("jsonl", decoder(t, map[string]any{"path": "/dev/full", "append": true}), Env{Stream: "bead"})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		err = s.Write(t.Context(), estimate(1, 0))
	}
	if !strings.Contains(err.Error(), "/dev/full: no space left on device: messages are lost until it can be written: free space") {
		t.Errorf("found %v", err)
	}
	if err := s.Close(context.Background()); err == nil {
		t.Error("closed as if all were written")
	}
}

// screenAfter replays what a terminal sink wrote, as far as it uses: lines, cursor up, erase below.
func screenAfter(t *testing.T, written string) []string {
	t.Helper()
	rows := []string{}
	for written != "" {
		if strings.HasPrefix(written, "\x1b[") {
			var up int
			digits, rest, ok := strings.Cut(written[2:], "A\x1b[J")
			for _, d := range digits {
				up = up*10 + int(d-'0')
			}
			if !ok || up > len(rows) {
				t.Fatalf("cannot follow %.20q on %d rows", written, len(rows))
			}
			rows, written = rows[:len(rows)-up], rest
			continue
		}
		line, rest, ok := strings.Cut(written, "\n")
		if !ok || strings.ContainsRune(line, 0x1b) {
			t.Fatalf("a line that is not whole, or steers the terminal: %q", line)
		}
		rows, written = append(rows, line), rest
	}
	return rows
}

func TestTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s, err := New("terminal", decoder(t, nil), Env{Stream: "bead", Stdout: &out, Terminal: true})
		if err != nil {
			t.Fatal(err)
		}
		width, height := 120, 24
		s.(*terminal).size = func() (int, int) { return width, height }
		draws := 0
		for i := range 1000 { // one second at 1000 frames/s
			before := out.Len()
			m := latent.Message(estimate(uint64(i), 1))
			switch i {
			case 0:
				m = health()
			case 500:
				m = event()
			}
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			if out.Len() > before {
				draws++
			}
			time.Sleep(time.Millisecond)
		}
		if draws < 4 || draws > 6 { // 5 Hz less the first, and the event
			t.Errorf("drawn %d times in a second", draws)
		}
		closeSink(t, s)
		rows := screenAfter(t, out.String())
		text := strings.Join(rows, "\n")
		for _, part := range []string{
			"warning queue_full: a \"quoted\" text [2J (3 times)", "frames 20", "29.5 fps", "queue_full 2", "read 1.00/2.00/3.00",
			"0.5 ± 0.1", "1 [0.9, 1.1]", "active", "undecided", "active 1 of 2", "(CRLB) 0.25",
		} {
			if strings.Count(text, part) < 1 {
				t.Errorf("the screen does not say %q:\n%s", part, text)
			}
		}
		if !strings.Contains(rows[0], "queue_full") || strings.Count(text, "29.5 fps") != 1 {
			t.Errorf("expected the event above one status:\n%s", text)
		}
		out.Reset()
		width, height = 20, 4
		s.(*terminal).lines = 0
		if err := s.(*terminal).draw(); err != nil {
			t.Fatal(err)
		}
		rows = screenAfter(t, out.String())
		if len(rows) != 3 {
			t.Errorf("%d rows on a screen of 4, one is the cursor's", len(rows))
		}
		for _, row := range rows {
			if len([]rune(row)) >= 20 {
				t.Errorf("%q is wider than the screen", row)
			}
		}
	})
}

func TestTerminalIntoPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s, err := New("terminal", decoder(t, nil), Env{Stream: "bead", Stdout: &out})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 110 { // eleven seconds
			if err := s.Write(t.Context(), estimate(uint64(i), 1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := strings.Count(out.String(), "\n"); n != 2 || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%d lines in 11 s, expected one every 5 s, without control characters: %q", n, out.String())
		}
		closeSink(t, s)
	})
}

func TestTerminalSaysWhenItCannotWrite(t *testing.T) {
	s, err := New("terminal", decoder(t, nil), Env{Stream: "bead", Stdout: brokenPipe{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), event()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("found %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
