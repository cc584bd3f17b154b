package sinks

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/sinktest"
)

// screenAfter returns the screen after the output of a terminal sink. It interprets the sequences that the sink uses: lines, cursor up, erase below.
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
		s, err := New("terminal", sinktest.Decoder(t, nil), Env{Stream: "bead", Stdout: &out, Terminal: true})
		if err != nil {
			t.Fatal(err)
		}
		width, height := 120, 24
		s.(*terminal).size = func() (int, int) { return width, height }
		draws := 0
		for i := range 1000 { // one second at 1000 frames/s
			before := out.Len()
			m := latent.Message(sinktest.Estimate(uint64(i), 1))
			switch i {
			case 0:
				m = sinktest.Health()
			case 500:
				m = sinktest.Event()
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
		sinktest.Close(t, s)
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

// TestTerminalField: the status of a field shows the number of objects and their mean diffusion, on a screen and in a log. It shows latents only if an object
// is followed.
func TestTerminalField(t *testing.T) {
	for _, screen := range []bool{true, false} {
		var out strings.Builder
		s, err := New("terminal", sinktest.Decoder(t, nil), Env{Stream: "dish", Stdout: &out, Terminal: screen})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []latent.Message{sinktest.Health(), sinktest.Field(6), sinktest.Track(6), sinktest.Population(6)} {
			if err := s.Write(t.Context(), m); err != nil {
				t.Fatal(err)
			}
		}
		sinktest.Close(t, s)
		written := out.String()
		if screen {
			written = strings.Join(screenAfter(t, written), "\n")
		}
		for _, want := range []string{"objects 2  born 5  ended 3", "mean D 4 [3, -] px²/s  common velocity 1, -1 ± 0.5 px/s"} {
			if !strings.Contains(written, want) {
				t.Errorf("screen %v: %q is not in\n%s", screen, want, written)
			}
		}
		if strings.Contains(written, "active") || strings.Contains(written, "motion") {
			t.Errorf("latents of nothing:\n%s", written)
		}
	}
}

func TestTerminalIntoPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		s, err := New("terminal", sinktest.Decoder(t, nil), Env{Stream: "bead", Stdout: &out})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 110 { // eleven seconds
			if err := s.Write(t.Context(), sinktest.Estimate(uint64(i), 1)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if n := strings.Count(out.String(), "\n"); n != 2 || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%d lines in 11 s, expected one every 5 s, without control characters: %q", n, out.String())
		}
		sinktest.Close(t, s)
	})
}

func TestTerminalSaysWhenItCannotWrite(t *testing.T) {
	s, err := New("terminal", sinktest.Decoder(t, nil), Env{Stream: "bead", Stdout: brokenPipe{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write(t.Context(), sinktest.Event()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("found %v", err)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
