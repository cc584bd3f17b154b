package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/sinks"
)

// watching runs watch and returns its outputs and its end.
func watching(t *testing.T, c watchCmd) (out, notes *io.PipeReader, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, outEnd := io.Pipe()
	notes, notesEnd := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := c.watch(ctx, outEnd, notesEnd)
		outEnd.Close()
		notesEnd.Close()
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		out.Close()
		notes.Close()
	})
	return out, notes, done
}

// publisher is a bus with a NATS sink for the stream bead.
func publisher(t *testing.T) (*bus.Conn, sinks.Sink) {
	t.Helper()
	b, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sinks.New("nats", func(any) error { return nil }, sinks.Env{Stream: "bead", Bus: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := errors.Join(s.Close(ctx), b.Close()); err != nil {
			t.Error(err)
		}
	})
	return b, s
}

// subscribed waits until the server knows another client's subscription.
func subscribed(t *testing.T, b *bus.Conn, subject string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		// A request without a subscriber is answered at once with "no responders".
		_, err := b.NATS().Request(subject, []byte("{}"), 20*time.Millisecond)
		if err == nil || strings.Contains(err.Error(), "timeout") {
			return
		}
		if time.Now().After(end) {
			t.Fatal("watch has not subscribed")
		}
	}
}

// read reads from r until a line contains text, and returns everything read.
func read(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	got := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		piece := make([]byte, 4096)
		for !strings.Contains(all.String(), text) {
			n, err := r.Read(piece)
			all.Write(piece[:n])
			if err != nil {
				break
			}
		}
		got <- all.String()
	}()
	select {
	case s := <-got:
		if !strings.Contains(s, text) {
			t.Fatalf("found %q, expected %q", s, text)
		}
		return s
	case <-time.After(15 * time.Second):
		t.Fatalf("nothing was printed with %q", text)
		return ""
	}
}

func watchedEstimate(seq uint64) *latent.Estimate {
	return &latent.Estimate{
		Latent:  latent.Latent{Seq: seq, Time: time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC), Dropped: 2, Mean: []float64{0.25}, SD: []float64{0.125}},
		Drift:   []float64{-1.5},
		Latency: 3 * time.Millisecond,
		SDE: latent.SDE{
			Revision: 1, Seconds: 2.5, Sigma: []float64{1}, SigmaLow: []float64{0.9}, SigmaHigh: []float64{1.1},
			Diffusion: []float64{0.5}, Noise: []float64{0}, Activity: []latent.Activity{latent.Active}, ActiveCount: 1, CRLB: 0.4,
		},
	}
}

func TestWatchPrints(t *testing.T) {
	b, s := publisher(t)
	out, notes, _ := watching(t, watchCmd{NATS: b.URL(), Prefix: "driftscope", Stream: ">", Rate: 1})
	go io.Copy(io.Discard, notes)
	subscribed(t, b, "driftscope.local.bead.probe")
	for seq := range uint64(50) {
		if err := s.Write(t.Context(), watchedEstimate(seq)); err != nil {
			t.Fatal(err)
		}
	}
	entered := &latent.Trigger{Seq: 3, Name: "well", Rule: "zone", On: true, Value: 0.25, Unit: "latent", Latency: 2500 * time.Microsecond}
	if err := s.Write(t.Context(), entered); err != nil {
		t.Fatal(err)
	}
	end := &latent.Event{Level: latent.Warning, Code: "torn", Text: "page 3\x1b[2J", Count: 4, Time: time.Now()}
	if err := s.Write(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	got := read(t, out, "torn")
	want := "bead #0 03:04:05.006  z 0.25±0.12  drift [-1.5]  3.00 ms  2 dropped before\n" +
		"bead law 1  σ 1 [0.9, 1.1]  active 1 of 1  drift bound (CRLB) 0.4  observed 2.5 s\n" +
		"bead #3 trigger well begins: zone  0.25 of 0 latent  2.50 ms\n" +
		"bead warning torn: page 3 [2J (4 times)\n"
	if got != want { // at one latent per second, the other 49 exceed the rate
		t.Errorf("found\n%sexpected\n%s", got, want)
	}
}

func TestWatchJSONOfOneStream(t *testing.T) {
	b, s := publisher(t)
	out, notes, _ := watching(t, watchCmd{NATS: b.URL(), Prefix: "driftscope", Stream: "bead", JSON: true})
	subscribed(t, b, "driftscope.local.bead.probe")
	read(t, notes, "left out") // the probe is not a valid message
	for _, subject := range []string{"driftscope.local.other.latent", "driftscope.local.bead.latent"} {
		if err := b.NATS().Publish(subject, []byte("{\"v\":1,\"kind\":\"latent\",\n\"z\":[7]}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Write(t.Context(), &latent.Health{State: "stopped", Time: time.Now()}); err != nil {
		t.Fatal(err)
	}
	got := read(t, out, "stopped")
	if lines := strings.Split(got, "\n"); len(lines) != 3 || lines[0] != `{"v":1,"kind":"latent","z":[7]}` {
		t.Errorf("found %q, expected one latent of bead and the health, a line each", got)
	}
}

func TestWatchSaysWhatHinders(t *testing.T) {
	t.Run("no server", func(t *testing.T) {
		start := time.Now()
		c := watchCmd{NATS: "nats://viewer:hunter2@127.0.0.1:1", Prefix: "driftscope", Stream: ">"}
		err := c.watch(t.Context(), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "nats://viewer:xxxxx@127.0.0.1:1: no NATS server answers: start driftscope run") {
			t.Errorf("found %v", err)
		}
		if d := time.Since(start); d > 3*time.Second { // 2 s, and a busy machine
			t.Errorf("took %v", d)
		}
	})
	t.Run("silence", func(t *testing.T) {
		b, _ := publisher(t)
		_, notes, _ := watching(t, watchCmd{NATS: b.URL(), Prefix: "driftscope", Stream: "bead"})
		read(t, notes, "nothing is published under driftscope.*.bead.*")
	})
	for name, c := range map[string]watchCmd{
		"stream":   {NATS: "nats://127.0.0.1:1", Prefix: "driftscope", Stream: "a.b"},
		"rate":     {NATS: "nats://127.0.0.1:1", Prefix: "driftscope", Stream: ">", Rate: -1},
		"embedded": {NATS: "embedded", Prefix: "driftscope", Stream: ">"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.watch(t.Context(), io.Discard, io.Discard); console.Status(err) != 2 {
				t.Errorf("found %v, expected a usage error", err)
			}
		})
	}
}

func TestWatchEndsWithContext(t *testing.T) {
	b, _ := publisher(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	c := watchCmd{NATS: b.URL(), Prefix: "driftscope", Stream: ">"}
	go func() { done <- c.watch(ctx, io.Discard, io.Discard) }()
	subscribed(t, b, "driftscope.local.bead.probe")
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("watch did not end")
	}
}
