package natsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

// broker starts an embedded server on a free port and returns a connection for a Publisher.
func broker(t testing.TB) *bus.Conn {
	t.Helper()
	conn, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Patience: FramePatience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// newNATSSource makes a source of subject "cam".
func newNATSSource(t testing.TB, url string) *Source {
	t.Helper()
	source, err := New(func(dst any) error {
		return yaml.UnmarshalWithOptions([]byte("{subject: cam, url: '"+url+"'}"), dst, yaml.DisallowUnknownField())
	})
	if err != nil {
		t.Fatal(err)
	}
	return source.(*Source)
}

// subscribed opens a source of newNATSSource; the test closes it.
func subscribed(t testing.TB, url string) *Source {
	t.Helper()
	s := newNATSSource(t, url)
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// story reads n times. For each it returns a frame's "seq+dropped" with its events, or the cause of a skip.
func story(t testing.TB, s pipeline.Source, n int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var words []string
	for range n {
		f, err := s.Read(ctx)
		var skip *pipeline.ErrSkip
		switch {
		case errors.As(err, &skip):
			if strings.ContainsRune(skip.Error(), '\n') || !strings.Contains(skip.Error(), "cam") {
				t.Errorf("found %q, one line that names the subject expected", skip)
			}
			words = append(words, skip.Cause)
		case err != nil:
			t.Fatalf("%v after %v", err, words)
		default:
			word := fmt.Sprintf("%d+%d", f.Seq, f.Meta.Dropped)
			for _, e := range f.Meta.Events {
				word += " " + e.Code
			}
			words = append(words, word)
			f.Close()
		}
	}
	return strings.Join(words, " ")
}

// example returns a frame of 3x2 pixels of uint16, with the headers that docs/reference/frames.md requires.
func example(seq int) *nats.Msg {
	return &nats.Msg{
		Subject: "cam",
		Header: nats.Header{
			"Driftscope-Session": {"1700000000000000000"}, "Driftscope-Seq": {strconv.Itoa(seq)}, "Driftscope-Time-Ns": {"1700000000123456789"},
			"Driftscope-Width": {"3"}, "Driftscope-Height": {"2"}, "Driftscope-Pixel-Type": {"uint16"}, "Driftscope-Channels": {"1"},
			"Driftscope-Chunks": {"1"}, "Driftscope-Chunk": {"0"},
		},
		Data: []byte("\x01\x00\x02\x00\x03\x00\x00\x01\xff\xff\x34\x12"), // numpy.array([[1, 2, 3], [256, 65535, 0x1234]], "<u2").tobytes()
	}
}

func TestNATSExample(t *testing.T) {
	conn := broker(t)
	s := subscribed(t, conn.URL())
	if err := conn.NATS().PublishMsg(example(41)); err != nil {
		t.Fatal(err)
	}
	f, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := f.Mat().DataPtrUint16()
	if err != nil {
		t.Fatal(err)
	}
	if f.Seq != 0 || f.Time.UnixNano() != 1700000000123456789 || f.Mat().Rows() != 2 || !reflect.DeepEqual(v, []uint16{1, 2, 3, 256, 65535, 0x1234}) {
		t.Errorf("frame %d at %d: %v", f.Seq, f.Time.UnixNano(), v)
	}
}

// For a publisher that loses frames and messages, stops and restarts, every sequence number is in a frame, in Dropped or in a skip.
func TestNATSLosses(t *testing.T) {
	conn := broker(t)
	s := subscribed(t, conn.URL())
	send := func(m *nats.Msg, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			m.Header.Set(pairs[i], pairs[i+1])
		}
		if err := conn.NATS().PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	send(example(10))
	send(example(11))
	send(example(14))                            // 12 and 13 are missing
	send(example(15), "Driftscope-Chunks", "2")  // its second message is never sent
	send(example(16))                            //
	send(&nats.Msg{Subject: "cam"})              // not a frame
	send(with(example(17), make([]byte, 11)))    // one byte missing
	send(example(18), "Driftscope-Width", "1e9") // invalid size
	send(example(19))
	send(example(19))                             // again
	send(example(0), "Driftscope-Session", "new") // a restart
	send(example(1), "Driftscope-Session", "new", "Driftscope-Width", "2", "Driftscope-Height", "3")
	send(example(3), "Driftscope-Session", "new")
	now := time.Unix(1, 0)
	s.now = func() time.Time { return now }
	want := "0+0 1+0 4+2 torn_frame 6+0 bad_message contradictory_frame bad_message 9+0 late_frame"
	if got := story(t, s, 10); got != want {
		t.Errorf("found    %s\nexpected %s", got, want)
	}
	now = now.Add(time.Second) // duration of the restart
	if got, want := story(t, s, 3), "10+0 publisher_restarted size_changed 13+1"; got != want {
		t.Errorf("found    %s\nexpected %s", got, want)
	}
}

// Any data announced as PNG cause no crash and use the memory of one picture.
func TestNATSHostilePNG(t *testing.T) {
	conn := broker(t)
	s := subscribed(t, conn.URL())
	good := ingesttest.EncodePNG(t, image.NewGray16(image.Rect(0, 0, 3, 2)))
	for seq, data := range [][]byte{
		good, []byte("GIF89a"), nil, good[:len(good)-20], ingesttest.HugePNG(t), ingesttest.EncodePNG(t, ingesttest.Grey(3, 2, 9)), ingesttest.EncodeJPEG(t), good,
	} {
		m := example(seq)
		m.Header.Set("Driftscope-Encoding", "png")
		m.Data = data
		if err := conn.NATS().PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := story(t, s, 8), "0+0"+strings.Repeat(" unreadable_picture", 6)+" 7+0"; got != want {
		t.Errorf("found    %s\nexpected %s", got, want)
	}
}

// Invalid data announced as Zstandard lose one frame, and the next frame is read.
func TestNATSHostileZstd(t *testing.T) {
	conn := broker(t)
	s := subscribed(t, conn.URL())
	packer, err := wire.NewPacker()
	if err != nil {
		t.Fatal(err)
	}
	h := wire.Header{Session: "s", Width: 3, Height: 2, Channels: 1, Depth: tiff.Uint16}
	good, err := packer.Pack(&h, example(0).Data)
	if err != nil {
		t.Fatal(err)
	}
	for seq, data := range [][]byte{good, []byte("GIF89a"), nil, good[:len(good)-5], append(bytes.Clone(good), good...), good} {
		m := example(seq)
		m.Header.Set("Driftscope-Encoding", "zstd")
		m.Data = data
		if err := conn.NATS().PublishMsg(m); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := story(t, s, 6), "0+0"+strings.Repeat(" unreadable_picture", 4)+" 5+0"; got != want {
		t.Errorf("found    %s\nexpected %s", got, want)
	}
}

// Messages beyond the subscription's limit are counted in Dropped, and one event reports them.
func TestNATSOverrun(t *testing.T) {
	conn := broker(t)
	s := subscribed(t, conn.URL())
	if err := s.subscription.SetPendingLimits(4, pendingBytes); err != nil {
		t.Fatal(err)
	}
	for seq := range 20 {
		if err := conn.NATS().PublishMsg(example(seq)); err != nil {
			t.Fatal(err)
		}
	}
	// The server answers Flush after it has delivered all earlier messages to the subscription.
	if err := s.conn.NATS().Flush(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if n, err := s.subscription.Dropped(); err != nil || n == 16 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing was thrown away")
		}
	}
	if got := story(t, s, 4); !strings.HasPrefix(got, "0+0 messages_overrun 1+0 2+0 3+0") {
		t.Error(got)
	}
	if err := conn.NATS().PublishMsg(example(20)); err != nil {
		t.Fatal(err)
	}
	if got := story(t, s, 1); got != "20+16" {
		t.Error(got)
	}
}

// While the server is away Read waits, and afterwards the numbers reveal the missed frames. After the connection was closed for good, the source can be opened
// again.
func TestNATSConnection(t *testing.T) {
	first, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	url := first.URL()
	port, err := strconv.Atoi(url[strings.LastIndexByte(url, ':')+1:])
	if err != nil {
		t.Fatal(err)
	}
	s, other := subscribed(t, url), newNATSSource(t, url)
	p := publisherTo(t, first, wire.Raw)
	for seq := range uint64(2) {
		if err := p.Publish(ingesttest.Noisy(t, seq, 4, 3, frame.MatTypeCV8UC1)); err != nil {
			t.Fatal(err)
		}
	}
	if got := story(t, s, 2); got != "0+0 1+0" {
		t.Error(got)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := p.Publish(ingesttest.Noisy(t, 2, 4, 3, frame.MatTypeCV8UC1)); err == nil {
		t.Error("published to nobody")
	}
	second, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded, Port: port})
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	back := func(c *nats.Conn) bool { return c.Stats().Reconnects > 0 && c.IsConnected() } // the client may not have noticed the loss of the first server yet
	suite.Until(t, func() bool { return back(s.conn.NATS()) }, "not connected again")
	if err := s.conn.NATS().Flush(); err != nil { // the server has the subscription again
		t.Fatal(err)
	}
	p.conn = second
	if err := p.Publish(ingesttest.Noisy(t, 5, 4, 3, frame.MatTypeCV8UC1)); err != nil {
		t.Fatal(err)
	}
	if got := story(t, s, 1); got != "5+3" {
		t.Error(got)
	}

	if err := other.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	other.conn.NATS().Close()
	if _, err := other.Read(t.Context()); !errors.Is(err, pipeline.ErrNotConnected) {
		t.Errorf("%v, ErrNotConnected expected", err)
	}
	if err := other.Close(); err != nil {
		t.Error(err)
	}
	if err := other.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := p.Publish(ingesttest.Noisy(t, 6, 4, 3, frame.MatTypeCV8UC1)); err != nil {
		t.Fatal(err)
	}
	if got := story(t, other, 1); got != "0+0" {
		t.Errorf("opened again, frame %s: a source begins at 0", got)
	}

	// Frames published while the source is closed, after its first frames, count as lost.
	if got := story(t, s, 1); got != "6+0" {
		t.Error(got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, seq := range []uint64{9, 10} {
		if err := p.Publish(ingesttest.Noisy(t, seq, 4, 3, frame.MatTypeCV8UC1)); err != nil {
			t.Fatal(err)
		}
	}
	if got := story(t, s, 2); got != "2+2 3+0" {
		t.Error(got)
	}
}

// Read returns at the end of the run even if the publisher is silent.
func TestNATSReadStops(t *testing.T) {
	s := subscribed(t, broker(t).URL())
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := s.Read(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

func TestNATSRefused(t *testing.T) {
	for options, want := range map[string]string{
		"{}":                             "subject is missing",
		"{subject: 'cam.*'}":             `found "cam.*"`,
		"{subject: '>'}":                 "without *, > and spaces",
		"{subject: 'a b'}":               `found "a b"`,
		"{subject: 'a..b'}":              `found "a..b"`,
		"{subject: \"a\\r\\nPUB x 1\"}":  "words separated by dots",
		"{subject: cam, url: embedded}":  "nats://127.0.0.1:4222",
		"{subject: cam, fps: 3}":         "fps",
		"{subject: '" + long(256) + "'}": "at most 255",
	} {
		_, err := New(func(dst any) error {
			return yaml.UnmarshalWithOptions([]byte(options), dst, yaml.DisallowUnknownField())
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected %s", options, err, want)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	s := newNATSSource(t, "nats://eve:hunter2@127.0.0.1:1")
	if err := s.Open(ctx); !errors.Is(err, bus.ErrNoServer) || !strings.Contains(err.Error(), "nats://host:port/cam") || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func long(n int) string { return strings.Repeat("a", n) }

// If the server forbids the subject, Open returns an error instead of waiting forever.
func TestNATSForbidden(t *testing.T) {
	guard, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		Users: []*server.User{{Username: "eve", Password: "hunter2", Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"cam"}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	guard.Start()
	defer func() { guard.Shutdown(); guard.WaitForShutdown() }()
	if !guard.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server did not start")
	}
	s := newNATSSource(t, strings.Replace(guard.ClientURL(), "nats://", "nats://eve:hunter2@", 1))
	if err := s.Open(t.Context()); err == nil || !strings.Contains(err.Error(), "check the subject and the credentials") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("found %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestGuessNATS(t *testing.T) {
	for arg, want := range map[string]map[string]any{
		"nats:cam.1":                  {"subject": "cam.1"},
		"nats://scope.lab:4222/cam.1": {"subject": "cam.1", "url": "nats://scope.lab:4222"},
		"nats://scope.lab":            {"subject": "", "url": "nats://scope.lab"}, // rejected later, by the source
	} {
		if options := Options(strings.TrimPrefix(arg, "nats:")); !reflect.DeepEqual(options, want) {
			t.Errorf("%s: %v", arg, options)
		}
	}
}

// A NaN in a picture is passed on, because the pipeline must handle it.
func TestNATSNotANumber(t *testing.T) {
	conn := broker(t)
	s, p := subscribed(t, conn.URL()), publisherTo(t, conn, wire.Raw)
	f := ingesttest.Noisy(t, 0, 2, 2, frame.MatTypeCV32FC1)
	sent, err := f.Mat().DataPtrFloat32()
	if err != nil {
		t.Fatal(err)
	}
	sent[3] = float32(math.NaN())
	if err := p.Publish(f); err != nil {
		t.Fatal(err)
	}
	got, err := s.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if v, err := got.Mat().DataPtrFloat32(); err != nil || v[3] == v[3] {
		t.Error(v, err)
	}
}
