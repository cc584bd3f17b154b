package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gocv.io/x/gocv"

	"driftscope/ingest"
	"driftscope/ingest/natsource"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/job/recording"
)

// open makes and opens a source; the test closes it.
func open(t *testing.T, kind string, options map[string]any) pipeline.Source {
	t.Helper()
	source, err := ingest.New(kind, recording.Decoder(kind, options))
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return source
}

// sameFrame compares all data of two frames that tracking uses.
func sameFrame(t *testing.T, got, want *frame.Frame) {
	t.Helper()
	if got.Seq != want.Seq || !got.Time.Equal(want.Time) || got.Meta.Trajectory != want.Meta.Trajectory || got.Meta.Dropped != want.Meta.Dropped {
		t.Errorf("frame %d at %v, trajectory %d, %d dropped; expected %d at %v, %d, %d", got.Seq, got.Time, got.Meta.Trajectory, got.Meta.Dropped,
			want.Seq, want.Time, want.Meta.Trajectory, want.Meta.Dropped)
	}
	a, errA := got.Mat().DataPtrUint8()
	b, errB := want.Mat().DataPtrUint8()
	if errA != nil || errB != nil || got.Mat().Type() != want.Mat().Type() || !bytes.Equal(a, b) {
		t.Errorf("frame %d has other pixels", got.Seq)
	}
}

// A published recording arrives as it was read: pixels in colour, times, numbers.
func TestPublish(t *testing.T) {
	folder := t.TempDir()
	if o := drive(t, folder, "simulate", "balls-ou", "--frames", "6", "--out", "film"); o.status != 0 {
		t.Fatal(o.errors)
	}
	conn, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	received := open(t, "nats", map[string]any{"subject": "lab.cam", "url": conn.URL()})
	film := open(t, "directory", map[string]any{"path": filepath.Join(folder, "film")})
	o := drive(t, folder, "publish", "film", "--subject", "lab.cam", "--url", conn.URL(), "--rate", "fastest")
	if o.status != 0 || !strings.Contains(o.out, "published 6 frames (6 messages, ") {
		t.Fatalf("%+v", o)
	}
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
	o = drive(t, folder, "publish", "sim:balls-ou", "--subject", "lab.cam", "--url", conn.URL(), "--png")
	o.check(t, 1, "frame 0: PNG cannot store float32 pixels")
	drive(t, folder, "publish", "film", "--subject", "lab.cam").check(t, 1, "no NATS server answers")
	drive(t, folder, "publish", "film", "--subject", "lab.>").check(t, 2, `--subject: found "lab.>"`)
	drive(t, folder, "publish", "film", "--subject", "a", "--url", "embedded").check(t, 2, "give its address")
}

// publishMolecule publishes an endless simulation until stop is called.
func publishMolecule(t *testing.T, url string) (stop func() string) {
	t.Helper()
	publisher := command(t, t.TempDir(), "publish", "sim:molecule", "--subject", "cam", "--url", url)
	var out, problems bytes.Buffer
	publisher.Stdout, publisher.Stderr = &out, &problems
	if err := publisher.Start(); err != nil {
		t.Fatal(err)
	}
	return func() string {
		if err := publisher.Process.Signal(syscall.SIGINT); err != nil {
			t.Error(err)
		}
		if err := publisher.Wait(); err != nil {
			t.Errorf("%v: %s", err, problems.String())
		}
		return out.String()
	}
}

// A run attaches to a running publisher, tracks, and leaves. The publisher ends in order when it is stopped.
func TestRunFromPublisher(t *testing.T) {
	conn, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	folder := t.TempDir()
	stop := publishMolecule(t, conn.URL())
	o := drive(t, folder, "run", conn.URL()+"/cam", "--frames", "30", "--nats", "off", "--no-status", "--out", "out.jsonl")
	if o.status != 0 || !strings.Contains(o.out, "frames in 30, ") {
		t.Errorf("%+v", o)
	}
	if results := estimates(t, filepath.Join(folder, "out.jsonl")); !bytes.Contains(results, []byte(`"stream":"cam"`)) {
		t.Error("no latents of stream cam")
	}
	if out := stop(); !strings.Contains(out, "on cam at "+conn.URL()) {
		t.Error(out)
	}
}

// A run starts its own server before it waits for frames there, also if it needs a first frame to adapt the shipped model.
func TestRunOnItsOwnServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	run := command(t, t.TempDir(), "run", "nats:cam", "--frames", "10", "--nats-port", port, "--no-status")
	var out, problems bytes.Buffer
	run.Stdout, run.Stderr = &out, &problems
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal("no server")
		}
	}
	stop := publishMolecule(t, "nats://"+address)
	if err := run.Wait(); err != nil || !strings.Contains(out.String(), "frames in 10, ") {
		t.Errorf("%v: %s%s", err, out.String(), problems.String())
	}
	stop()
}

// Frames are sent at the intervals at which they were taken. A new trajectory starts at once.
func TestPace(t *testing.T) {
	var p pace
	start := time.Now()
	for _, f := range []struct {
		trajectory uint64
		at         time.Duration
	}{{0, 0}, {0, 30 * time.Millisecond}, {0, 60 * time.Millisecond}, {1, -time.Hour}, {1, -time.Hour}} {
		if err := p.wait(t.Context(), &frame.Frame{Time: time.Unix(0, 0).Add(f.at), Meta: frame.Meta{Trajectory: f.trajectory}}); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took < 60*time.Millisecond || took > 10*time.Second {
		t.Errorf("took %v, 60 ms expected", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	late := &frame.Frame{Time: time.Unix(0, 0).Add(time.Hour), Meta: frame.Meta{Trajectory: 1}}
	if err := p.wait(ctx, late); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// While the server is unreachable a camera's frames are lost and counted, and a recording waits.
func TestPublishServerAway(t *testing.T) {
	server, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := bus.Connect(t.Context(), bus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	publisher, err := natsource.NewPublisher(conn, "cam", wire.Raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for conn.NATS().IsConnected() {
		time.Sleep(time.Millisecond)
	}
	f := frame.New(0, time.Unix(0, 0), frame.Meta{}, gocv.NewMatWithSize(3, 4, gocv.MatTypeCV8U))
	defer f.Close()
	p := publishing{publisher: publisher}
	if err := p.publish(t.Context(), f, false); err != nil || p.lost != 1 {
		t.Errorf("%v, %d lost", err, p.lost)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*publishAgain)
	defer cancel()
	if err := p.publish(ctx, f, true); !errors.Is(err, context.DeadlineExceeded) || p.lost != 1 || publisher.Sent().Frames != 0 {
		t.Errorf("%v, %d lost, %+v", err, p.lost, publisher.Sent())
	}
}

// The printed counts mention losses only if there are any.
func TestPublishAccount(t *testing.T) {
	conn, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	publisher, err := natsource.NewPublisher(conn, "cam", wire.Raw)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	p := publishing{publisher: publisher, unread: 2, lost: 3}
	p.account(&out, "cam", "x")
	want := fmt.Sprintln("published 0 frames (0 messages, 0 MB) on cam at x") + "  2 could not be read\n  3 were lost while the server was away or too slow\n"
	if out.String() != want {
		t.Errorf("found %q", out.String())
	}
}
