package natsource

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/picture"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
)

// publisherTo makes a publisher on subject "cam".
func publisherTo(t testing.TB, conn *bus.Conn, encoding wire.Encoding) *Publisher {
	t.Helper()
	p, err := NewPublisher(conn, "cam", encoding)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Published frames arrive unchanged, with pixels, times to the nanosecond, numbers and trajectories, in one or several messages.
func TestNATSRoundTrip(t *testing.T) {
	conn := broker(t)
	for _, c := range []struct {
		kind          frame.MatType
		width, height int
		encoding      wire.Encoding
		messages      uint64
	}{
		{frame.MatTypeCV8UC1, 7, 5, wire.Raw, 1},
		{frame.MatTypeCV8UC3, 7, 5, wire.Raw, 1},
		{frame.MatTypeCV16UC1, 7, 5, wire.Raw, 1},
		{frame.MatTypeCV16UC3, 7, 5, wire.Raw, 1},
		{frame.MatTypeCV32FC1, 7, 5, wire.Raw, 1},
		{frame.MatTypeCV32FC3, 7, 5, wire.Raw, 1},
		{frame.MatTypeCV16UC1, 2200, 4000, wire.Raw, 3}, // 17.6 MB; the embedded server accepts 8.4 MB per message
		{frame.MatTypeCV8UC1, 7, 5, wire.PNG, 1},
		{frame.MatTypeCV8UC3, 7, 5, wire.PNG, 1},
		{frame.MatTypeCV16UC1, 7, 5, wire.PNG, 1},
		{frame.MatTypeCV16UC3, 7, 5, wire.PNG, 1},
		{frame.MatTypeCV8UC1, 7, 5, wire.Zstd, 1},
		{frame.MatTypeCV8UC3, 7, 5, wire.Zstd, 1},
		{frame.MatTypeCV16UC1, 7, 5, wire.Zstd, 1},
		{frame.MatTypeCV16UC3, 7, 5, wire.Zstd, 1},
		{frame.MatTypeCV32FC3, 7, 5, wire.Zstd, 1},
	} {
		t.Run(fmt.Sprintf("%s, %d wide, encoding %v", picture.TypeName(int(c.kind)), c.width, c.encoding), func(t *testing.T) {
			s, p := subscribed(t, conn.URL()), publisherTo(t, conn, c.encoding)
			if !s.Info().Live || !s.Info().Timed {
				t.Error("neither live nor timed")
			}
			for k := range uint64(3) {
				want := ingesttest.Noisy(t, k, c.width, c.height, c.kind)
				if err := p.Publish(want); err != nil {
					t.Fatal(err)
				}
				got, err := s.Read(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer got.Close()
				if got.Seq != k || !got.Time.Equal(want.Time) || got.Meta.Trajectory != k/2 || got.Meta.Dropped != 0 || len(got.Meta.Events) != 0 {
					t.Errorf("frame %d at %v: %+v", got.Seq, got.Time, got.Meta)
				}
				if got.Mat().Type() != c.kind || !bytes.Equal(ingesttest.BytesOf(t, got), ingesttest.BytesOf(t, want)) {
					t.Errorf("frame %d: other pixels", k)
				}
			}
			if sent := p.Sent(); sent.Frames != 3 || sent.Messages != 3*c.messages {
				t.Errorf("%+v, expected %d messages a frame", sent, c.messages)
			}
		})
	}
}

// A frame that cannot be published gives an error that names it, and no message.
func TestPublishRefuses(t *testing.T) {
	conn := broker(t)
	if _, err := NewPublisher(conn, "cam.>", wire.Raw); err == nil {
		t.Error("a subject with a wildcard")
	}
	for name, c := range map[string]struct {
		f        *frame.Frame
		encoding wire.Encoding
		want     string
	}{
		"no PNG of floats": {ingesttest.Noisy(t, 8, 4, 3, frame.MatTypeCV32FC1), wire.PNG, "cannot store float32 pixels"},
		"doubles":          {ingesttest.Noisy(t, 8, 4, 3, frame.MatTypeCV64F), wire.Raw, "frame 8: the frame has float64 pixels"},
		"no pixels":        {frame.New(8, time.Time{}, frame.Meta{}, frame.NewMat()), wire.Raw, "frame 8: the frame has no pixels"},
		"too wide":         {ingesttest.Noisy(t, 8, 20000, 1, frame.MatTypeCV8UC1), wire.Raw, "20000x1 pixels"},
	} {
		p := publisherTo(t, conn, c.encoding)
		if err := p.Publish(c.f); err == nil || !strings.Contains(err.Error(), c.want) || p.Sent() != (Sent{}) {
			t.Errorf("%s: found %v, expected %s; sent %+v", name, err, c.want, p.Sent())
		}
		c.f.Close()
	}
}

// BenchmarkNATS measures a frame's way from one connection to another: 512x512 16-bit pixels.
func BenchmarkNATS(b *testing.B) {
	for encoding, name := range []string{"raw", "png", "zstd"} {
		b.Run(name, func(b *testing.B) {
			conn := broker(b)
			s, p := subscribed(b, conn.URL()), publisherTo(b, conn, wire.Encoding(encoding))
			seq := uint64(0)
			f := ingesttest.Noisy(b, 0, 512, 512, frame.MatTypeCV16UC1)
			b.SetBytes(512 * 512 * 2)
			for b.Loop() {
				f.Seq, seq = seq, seq+1
				if err := p.Publish(f); err != nil {
					b.Fatal(err)
				}
				got, err := s.Read(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				got.Close()
			}
		})
	}
}

// slowLine connects clients to a server. It limits the client's bytes to 13 MB per second, or the server's bytes if reader is true.
func slowLine(t *testing.T, server string, reader bool) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var busy sync.WaitGroup
	t.Cleanup(busy.Wait)
	t.Cleanup(func() { l.Close() })
	busy.Go(func() {
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		to, err := net.Dial("tcp", strings.TrimPrefix(server, "nats://"))
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		slow, fast := client, to
		if reader {
			slow, fast = to, client
		}
		busy.Go(func() {
			io.Copy(slow, fast)
			slow.Close() // the peer disconnected
		})
		for part := make([]byte, 1<<18); ; time.Sleep(20 * time.Millisecond) {
			n, err := slow.Read(part)
			if err != nil {
				return
			}
			fast.Write(part[:n])
		}
	})
	return "nats://" + l.Addr().String()
}

// TestNATSSlowLine: a frame that needs seconds on the publisher's or the reader's line arrives whole. The server stores it for the reader meanwhile.
func TestNATSSlowLine(t *testing.T) {
	for name, reader := range map[string]bool{"publisher's": false, "reader's": true} {
		t.Run(name, func(t *testing.T) {
			conn := broker(t)
			line := slowLine(t, conn.URL(), reader)
			from, to := line, conn.URL()
			if reader {
				from, to = to, from
			}
			out, err := bus.Connect(t.Context(), bus.Options{URL: from, Patience: FramePatience})
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			s, want := subscribed(t, to), ingesttest.Noisy(t, 0, 2200, 4000, frame.MatTypeCV16UC1)
			if err := publisherTo(t, out, wire.Raw).Publish(want); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := s.Read(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			if !bytes.Equal(ingesttest.BytesOf(t, got), ingesttest.BytesOf(t, want)) {
				t.Error("other pixels")
			}
		})
	}
}
