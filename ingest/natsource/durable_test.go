package natsource

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// keeping starts a server with JetStream whose folder survives a restart.
func keeping(t testing.TB) *bustest.Server {
	return bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}", t.TempDir()))
}

// durable makes a source that reads the stored frames of subject "cam", after place if it is not 0.
func durable(t testing.TB, url string, place, frames uint64) *Durable {
	t.Helper()
	source, err := New(func(dst any) error {
		options := "{subject: cam, url: '" + url + "', durable: {max_bytes: 67108864, max_age: 1h, replicas: 1}}"
		return yaml.UnmarshalWithOptions([]byte(options), dst, yaml.DisallowUnknownField())
	})
	if err != nil {
		t.Fatal(err)
	}
	if source.Info().Live {
		t.Error("a source that drops frames")
	}
	if place > 0 {
		source.Info().ResumeAfter(place, frames)
	}
	if err := source.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := source.Close(); err != nil {
			t.Error(err)
		}
	})
	return source.(*Durable)
}

// dialled returns a connection for a publisher.
func dialled(t testing.TB, url string) *bus.Conn {
	t.Helper()
	conn, err := bus.Connect(t.Context(), bus.Options{URL: url, Patience: FramePatience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// durablePublisher makes a publisher of stored frames on subject "cam".
func durablePublisher(t testing.TB, conn *bus.Conn) *DurablePublisher {
	t.Helper()
	p, err := NewDurablePublisher(t.Context(), conn, Durably{Subject: "cam", Keep: small, Warn: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

var small = Keep{MaxBytes: 64 << 20, MaxAge: time.Hour, Replicas: 1}

// give publishes the frames from, ..., to - 1, and waits until they are stored.
func give(t testing.TB, p *DurablePublisher, from, to uint64) {
	t.Helper()
	for seq := from; seq < to; seq++ {
		if err := p.Publish(t.Context(), ingesttest.Noisy(t, seq, 3, 2, frame.MatTypeCV16UC1), true); err != nil {
			t.Fatal(err)
		}
	}
	kept(t, p)
}

func kept(t testing.TB, p *DurablePublisher) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if n := p.Finish(ctx); n != 0 {
		t.Fatalf("%d frames are not kept: %s", n, p.Problem())
	}
}

// streamFor makes the stream of subject "cam", with a configuration that change modifies.
func streamFor(t testing.TB, conn *bus.Conn, change func(*jetstream.StreamConfig)) jetstream.Stream {
	t.Helper()
	js, err := jetstream.New(conn.NATS())
	if err != nil {
		t.Fatal(err)
	}
	kept := small.resource("cam")
	change(kept.Stream)
	stream, err := js.CreateStream(t.Context(), *kept.Stream)
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// TestDurable: frames published before the source opened are read, with the stream's sequence numbers as places. A reader that resumes after a place gets the
// same frames with the same numbers.
func TestDurable(t *testing.T) {
	conn := dialled(t, keeping(t).URL())
	p := durablePublisher(t, conn)
	give(t, p, 7, 20)
	s := durable(t, conn.URL(), 0, 0)
	for seq := uint64(0); seq < 13; seq++ {
		f, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Seq != seq || f.Meta.Place != seq+1 || f.Meta.Dropped != 0 || f.Time.Nanosecond() != 123_456_789+7+int(seq) {
			t.Errorf("frame %d at %v: %+v", f.Seq, f.Time, f.Meta)
		}
		f.Close()
	}
	later := durable(t, conn.URL(), 9, 100)
	if got := story(t, later, 4); got != "100+0 101+0 102+0 103+0" {
		t.Errorf("resumed: %s", got)
	}
	give(t, p, 22, 23) // 20 and 21 were lost before the publisher got them
	for name, s := range map[string]*Durable{"from the beginning": s, "resumed": later, "resumed at the end": durable(t, conn.URL(), 13, 13)} {
		want := map[string]string{"from the beginning": "15+2", "resumed": "106+2", "resumed at the end": "15+2"}[name]
		if got := story(t, s, 1); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := s.Read(ctx); err != context.DeadlineExceeded {
		t.Errorf("%v at the end, expected to wait", err)
	}
	if got := p.Delivered(); got.Frames != 14 || got.Messages != 14 || got.Lost != 0 || got.Resent != 0 {
		t.Errorf("%+v", got)
	}
}

// TestDurableChunks: the place of a frame of several messages is its last message's. A reader that resumes there gets the next frame whole.
func TestDurableChunks(t *testing.T) {
	conn := dialled(t, bustest.Start(t, fmt.Sprintf("max_payload: 4096\njetstream {store_dir: %q}", t.TempDir())).URL())
	p := durablePublisher(t, conn)
	for seq := range uint64(4) { // 6000 bytes in messages of 2560
		if err := p.Publish(t.Context(), ingesttest.Noisy(t, seq, 60, 100, frame.MatTypeCV8UC1), true); err != nil {
			t.Fatal(err)
		}
	}
	kept(t, p)
	s := durable(t, conn.URL(), 6, 2)
	for seq := uint64(2); seq < 4; seq++ {
		f, err := s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Seq != seq || f.Meta.Place != 3*(seq+1) || f.Meta.Dropped != 0 {
			t.Errorf("frame %d: %+v", f.Seq, f.Meta)
		}
		f.Close()
	}
	if got := story(t, durable(t, conn.URL(), 5, 2), 2); got != "torn_frame 3+0" { // resumes within a frame, at a place that no frame has
		t.Error(got)
	}
}

// TestDurableExpired: expired messages are counted as frames, and an event gives their number, whether they expired before the place or during reading.
func TestDurableExpired(t *testing.T) {
	conn := dialled(t, keeping(t).URL())
	stream := streamFor(t, conn, func(c *jetstream.StreamConfig) { c.MaxMsgs = 10 })
	p := durablePublisher(t, conn)
	give(t, p, 0, 30) // 20 to 29 remain
	if got := story(t, durable(t, conn.URL(), 0, 0), 2); got != "0+0 1+0" {
		t.Errorf("who begins now misses nothing: %s", got)
	}
	late := durable(t, conn.URL(), 5, 5)
	if got := story(t, late, 2); got != "20+15 frames_expired 21+0" {
		t.Errorf("behind a place that has expired: %s", got)
	}
	if got := story(t, durable(t, conn.URL(), 20, 20), 1); got != "20+0" {
		t.Errorf("the last before the first: %s", got)
	}
	reading := durable(t, conn.URL(), 25, 25)
	if got := story(t, reading, 5); got != "25+0 26+0 27+0 28+0 29+0" {
		t.Error(got)
	}
	reading.log.detach() // messages that the consumer already has cannot expire
	give(t, p, 30, 60)
	if got := story(t, reading, 2); got != "50+20 frames_expired 51+0" {
		t.Errorf("while it was read: %s", got)
	}
	if err := stream.Purge(t.Context()); err != nil {
		t.Fatal(err)
	}
	give(t, p, 60, 61)
	if got := story(t, durable(t, conn.URL(), 55, 55), 1); got != "60+5 frames_expired" {
		t.Errorf("after a purge: %s", got)
	}
}

// TestDurableRemade: a deleted stream is created again and read from its beginning, and a place beyond the stream's end is detected.
func TestDurableRemade(t *testing.T) {
	conn := dialled(t, keeping(t).URL())
	p := durablePublisher(t, conn)
	give(t, p, 0, 20)
	s := durable(t, conn.URL(), 0, 0)
	if got := story(t, s, 20); !strings.HasSuffix(got, " 18+0 19+0") {
		t.Error(got)
	}
	js, err := jetstream.New(conn.NATS())
	if err != nil {
		t.Fatal(err)
	}
	if err := js.DeleteStream(t.Context(), bus.FramesName("cam")); err != nil {
		t.Fatal(err)
	}
	give(t, p, 20, 25)
	if got := story(t, s, 2); got != "20+0 frames_restarted 21+0" {
		t.Errorf("while it was read: %s", got)
	}
	if got := story(t, durable(t, conn.URL(), 20, 20), 2); got != "20+0 frames_restarted 21+0" {
		t.Errorf("a place beyond the end: %s", got)
	}
	info, err := js.Stream(t.Context(), bus.FramesName("cam"))
	if err != nil || info.CachedInfo().State.Msgs != 5 {
		t.Errorf("%v, 5 messages expected", err)
	}
}

// TestDurableRestart kills the server twice while 1,000 frames are published and read. Every frame is in the stream once and in order, and is read once.
func TestDurableRestart(t *testing.T) {
	server := keeping(t)
	conn := dialled(t, server.URL())
	p := durablePublisher(t, conn)
	s := durable(t, server.URL(), 0, 0)
	const frames = 1000
	published := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	go func() {
		for seq := range uint64(frames) {
			if err := p.Publish(ctx, ingesttest.Noisy(t, seq, 40, 30, frame.MatTypeCV16UC1), true); err != nil {
				published <- err
				return
			}
			time.Sleep(time.Millisecond)
		}
		published <- nil
	}()
	for seq := range uint64(frames) {
		f, err := s.Read(ctx)
		if err != nil {
			t.Fatalf("frame %d: %v (%s)", seq, err, p.Problem())
		}
		if f.Seq != seq || f.Meta.Dropped != 0 || f.Meta.Place != seq+1 || f.Time.Nanosecond() != 123_456_789+int(seq) {
			t.Fatalf("frame %d at %v: %+v", f.Seq, f.Time, f.Meta)
		}
		f.Close()
		if seq == 200 || seq == 600 {
			server.Kill()
			time.Sleep(200 * time.Millisecond)
			server.Run()
		}
	}
	if err := <-published; err != nil {
		t.Fatal(err)
	}
	kept(t, p)
	if got := p.Delivered(); got.Frames != frames || got.Resent == 0 {
		t.Errorf("%+v", got)
	}
	js, err := jetstream.New(dialled(t, server.URL()).NATS())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(ctx, bus.FramesName("cam"))
	if err != nil || stream.CachedInfo().State.LastSeq != frames || stream.CachedInfo().State.Msgs != frames {
		t.Errorf("%v, %d messages expected", err, frames)
	}
}

// TestDurableLive: frames of a camera beyond the window are lost and counted, a recording waits, and frames in the window arrive.
func TestDurableLive(t *testing.T) {
	server := keeping(t)
	conn := dialled(t, server.URL())
	p := durablePublisher(t, conn)
	server.Kill()
	large := ingesttest.Noisy(t, 0, 2000, 2600, frame.MatTypeCV16UC1) // 10.4 MB: three such frames fit
	for seq := range uint64(5) {
		large.Seq = seq
		if err := p.Publish(t.Context(), large, false); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.Delivered(); got.Lost != 2 || got.Frames != 0 {
		t.Errorf("%+v, expected two lost", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := p.Publish(ctx, large, true); err != context.DeadlineExceeded {
		t.Errorf("%v, expected to wait", err)
	}
	if n := p.Finish(ctx); n != 3 {
		t.Errorf("%d wait, 3 expected", n)
	}
	server.Run()
	kept(t, p)
	if got := p.Delivered(); got.Frames != 3 || p.Problem() != "" {
		t.Errorf("%+v %s", got, p.Problem())
	}
	large.Seq = 5
	if err := p.Publish(t.Context(), large, true); err != nil {
		t.Fatal(err)
	}
	if got := story(t, durable(t, server.URL(), 0, 0), 4); got != "0+0 1+0 2+0 5+2" {
		t.Error(got)
	}
}

// TestDurableIntruder: a stranger's message between two frames costs the publisher a retry, but no frame.
func TestDurableIntruder(t *testing.T) {
	conn := dialled(t, keeping(t).URL())
	p := durablePublisher(t, conn)
	give(t, p, 0, 5)
	if err := conn.NATS().PublishMsg(&nats.Msg{Subject: "cam", Data: []byte("junk")}); err != nil {
		t.Fatal(err)
	}
	give(t, p, 5, 10)
	if got := story(t, durable(t, conn.URL(), 0, 0), 11); got != "0+0 1+0 2+0 3+0 4+0 bad_message 5+0 6+0 7+0 8+0 9+0" {
		t.Error(got)
	}
	if got := p.Delivered(); got.Frames != 10 || got.Resent == 0 {
		t.Errorf("%+v", got)
	}
}

// TestDurableSessions: a later reader detects a change of publisher like a live reader, from the times at which the server stored the frames.
func TestDurableSessions(t *testing.T) {
	conn := dialled(t, keeping(t).URL())
	give(t, durablePublisher(t, conn), 0, 3)
	time.Sleep(2 * time.Second / 4) // twice the shortest patience
	give(t, durablePublisher(t, conn), 0, 3)
	want := "0+0 1+0 2+0 3+0 publisher_restarted 4+0 5+0"
	if got := story(t, durable(t, conn.URL(), 0, 0), 6); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if got := story(t, durable(t, conn.URL(), 3, 3), 3); got != "3+0 publisher_restarted 4+0 5+0" {
		t.Errorf("resumed between the two: %s", got)
	}
}

// TestDurableRefused: Open returns an error with advice for a server without JetStream, and New for an option out of bounds.
func TestDurableRefused(t *testing.T) {
	conn := broker(t)
	for options, want := range map[string]string{
		"{max_bytes: 1, max_age: 1h, replicas: 1}":        "durable.max_bytes: found 1",
		"{max_bytes: 67108864, max_age: 1s, replicas: 1}": "durable.max_age: found 1s",
		"{max_bytes: 67108864, max_age: 1h, replicas: 6}": "durable.replicas: found 6, expected 1 to 5",
		"{max_byte: 67108864}":                            "max_byte",
	} {
		_, err := New(func(dst any) error {
			return yaml.UnmarshalWithOptions([]byte("{subject: cam, durable: "+options+"}"), dst, yaml.DisallowUnknownField())
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %s", options, err, want)
		}
	}
	s := &Durable{assembly: assembly{options: natsOptions{Subject: "cam", URL: conn.URL(), Durable: &small}}}
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "enable JetStream") {
		t.Errorf("found %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for want, o := range map[string]Durably{
		"one publisher needs one subject": {Subject: "cam.>", Keep: small}, "max_bytes": {Subject: "cam"}, "enable JetStream": {Subject: "cam", Keep: small},
	} {
		if _, err := NewDurablePublisher(t.Context(), conn, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// TestFramesName: stream names are short, have no dots, and differ between subjects.
func TestFramesName(t *testing.T) {
	for subject, want := range map[string]string{
		"camera.bead": "frames_camera_bead", "cam": "frames_cam", "Lab-1.cam.2": "frames_Lab-1_cam_2",
	} {
		if got := bus.FramesName(subject); got != want {
			t.Errorf("%s: %s, expected %s", subject, got, want)
		}
	}
	seen := map[string]string{}
	for _, subject := range []string{"camera.bead", "camera_bead", "a.very.long.subject.of.a.camera", "a.very.long.subject.of.a.camerb", "größe.µ", strings.Repeat("x", 255)} {
		name := bus.FramesName(subject)
		if other, taken := seen[name]; taken || len(name) > 31 || strings.ContainsAny(name, ". *>/\\") {
			t.Errorf("%s: %s (%s)", subject, name, other)
		}
		seen[name] = subject
	}
}

// TestDurableJunk: messages that strangers store do not end the reading, and the run continues after them.
func TestDurableJunk(t *testing.T) {
	conn := dialled(t, keeping(t).URL())
	p := durablePublisher(t, conn)
	give(t, p, 0, 2)
	for range 130 {
		if err := conn.NATS().PublishMsg(&nats.Msg{Subject: "cam", Data: []byte("junk")}); err != nil {
			t.Fatal(err)
		}
	}
	give(t, p, 2, 4)
	c := &choosy{}
	s := &Durable{assembly: assembly{options: natsOptions{Subject: "cam", URL: conn.URL(), Durable: &small}}}
	stages := pipeline.Stages{Source: s, Encoders: []pipeline.Encoder{c}, Estimator: c, Sinks: []pipeline.NamedSink{{Name: "seen", Sink: choosySink{c}}}}
	summary, err := pipeline.Run(t.Context(), stages, pipeline.Options{Frames: 134})
	if err != nil || summary.Dropped["bad_message"] != 130 || summary.Tracked != 4 {
		t.Errorf("%v: %+v", err, summary)
	}
}

// BenchmarkDurable measures a frame's way into a server's file and back: 512x512 16-bit pixels, raw.
func BenchmarkDurable(b *testing.B) {
	conn := dialled(b, keeping(b).URL())
	p, err := NewDurablePublisher(b.Context(), conn, Durably{Subject: "cam", Keep: Kept(), Warn: b.Logf})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	s := durable(b, conn.URL(), 0, 0)
	f := ingesttest.Noisy(b, 0, 512, 512, frame.MatTypeCV16UC1)
	b.SetBytes(512 * 512 * 2)
	ahead := 0 // number of frames ahead, so that the window is filled
	for b.Loop() {
		for ; ahead < 16; ahead++ {
			if err := p.Publish(b.Context(), f, true); err != nil {
				b.Fatal(err)
			}
			f.Seq++
		}
		got, err := s.Read(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		got.Close()
		ahead--
	}
}
