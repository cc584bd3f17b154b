package natsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/bus/bustest"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
)

// intrusion describes messages of strangers on a publisher's subject.
type intrusion struct {
	before   int // frames that the publisher sends before; it continues afterwards
	messages func() []*nats.Msg
	causes   map[string]uint64 // smallest expected counts in the summary
}

var junk = map[string]intrusion{
	"five frames of a second publisher": {10, func() []*nats.Msg { return framesOf("other", 0, 5) }, map[string]uint64{"second_publisher": 5}},
	"130 messages that are none": {10, func() (m []*nats.Msg) {
		for range 130 {
			m = append(m, &nats.Msg{Subject: "cam", Data: []byte("junk")})
		}
		return m
	}, map[string]uint64{"bad_message": 130}},
	"two at the start, of a single pixel": {0, func() []*nats.Msg {
		return []*nats.Msg{with(example(0), []byte{0, 0}, "Session", "x", "Width", "1", "Height", "1"), with(example(0), nil, "Session", "y")}
	}, map[string]uint64{"unfit_frame": 1, "second_publisher": 1}},
	"two at the start, in the publisher's name": {0, func() []*nats.Msg {
		return []*nats.Msg{
			with(example(0), []byte{0, 0}, "Seq", strconv.Itoa(math.MaxInt), "Width", "1", "Height", "1"),
			with(example(0), nil, "Seq", "18446744073709551615"),
		}
	}, map[string]uint64{"unfit_frame": 1, "bad_message": 1}},
	"a frame taken in 2200": {10, func() []*nats.Msg {
		return []*nats.Msg{with(example(1_000_000), nil, "Time-Ns", fmt.Sprint(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()))}
	}, map[string]uint64{"bad_message": 1}},
	"300 late frames": {10, func() (m []*nats.Msg) {
		for range 30 {
			m = append(m, framesOf("1700000000000000000", 0, 10)...)
		}
		return m
	}, map[string]uint64{"late_frame": 300}},
	"200 sessions": {10, func() (m []*nats.Msg) {
		for i := range 200 {
			m = append(m, with(example(0), nil, "Session", fmt.Sprint("s", i)))
		}
		return m
	}, map[string]uint64{"second_publisher": 200}},
	"130 frames of another size": {10, func() (m []*nats.Msg) {
		for i := range 130 {
			m = append(m, with(example(100+i), []byte{0, 0}, "Width", "1", "Height", "1"))
		}
		return m
	}, map[string]uint64{"size_changed": 130}},
	"130 PNGs that are none": {10, func() (m []*nats.Msg) {
		for i := range 130 {
			m = append(m, with(example(10+i), []byte("GIF89a"), "Encoding", "png"))
		}
		return m
	}, map[string]uint64{"unreadable_picture": 130}},
}

// framesOf returns the messages of n whole frames of a session.
func framesOf(session string, from, n int) (m []*nats.Msg) {
	for seq := range n {
		m = append(m, with(example(from+seq), nil, "Session", session))
	}
	return m
}

// with returns m with the given data, if not nil, and headers.
func with(m *nats.Msg, data []byte, pairs ...string) *nats.Msg {
	if data != nil {
		m.Data = data
	}
	for i := 0; i < len(pairs); i += 2 {
		m.Header.Set("Driftscope-"+pairs[i], pairs[i+1])
	}
	return m
}

// choosy is a model and an estimator for frames of 3x2 pixels. It records the frames that it receives.
type choosy struct {
	mu      sync.Mutex
	latents []latent.Latent
	events  []latent.Event
}

func (c *choosy) Dim() int                 { return 1 }
func (c *choosy) Sees() latent.Observation { return latent.Observation{Latent: &latent.Latent{}} }

func (c *choosy) Encode(_ context.Context, dst latent.Observation, f *frame.Frame) error {
	if f.Mat().Cols() != 3 || f.Mat().Rows() != 2 {
		return errors.New("3x2 pixels expected")
	}
	dst.Latent.Reset(1)
	return nil
}

func (c *choosy) Alarms() []latent.Event          { return nil }
func (c *choosy) Reports() []latent.Message       { return nil }
func (c *choosy) Last() []latent.Message          { return nil }
func (c *choosy) Finish(*latent.SDE, uint64) bool { return false }
func (c *choosy) Freeze(bool)                     {}
func (c *choosy) Reset()                          {}
func (c *choosy) Follow(uint64) error             { return nil }
func (c *choosy) Save(io.Writer) error            { return nil }
func (c *choosy) Restore(io.Reader) error         { return nil }

func (c *choosy) Update(dst *latent.Estimate, seen latent.Observation) (told bool, err error) {
	z := seen.Latent
	c.mu.Lock()
	defer c.mu.Unlock()
	c.latents = append(c.latents, latent.Latent{Seq: z.Seq, Trajectory: z.Trajectory})
	dst.Latent.Copy(z)
	return true, nil
}

func (c *choosy) Write(_ context.Context, m latent.Message) error {
	if e, ok := m.(*latent.Event); ok {
		c.events = append(c.events, *e)
	}
	return nil
}

func (c *choosy) tracked() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.latents)
}

// Close implements the Close of encoder, estimator and sink.
func (c *choosy) Close() error { return nil }

type choosySink struct{ *choosy }

func (choosySink) Close(context.Context) error { return nil }

// TestNATSJunk: whatever strangers publish, the run continues, returns to the publisher that continues, and accounts for every frame. Earlier versions failed
// each case: the run ended, or the publisher's frames counted as late forever.
func TestNATSJunk(t *testing.T) {
	for where, url := range map[string]func(t *testing.T) string{
		"embedded": func(t *testing.T) string { return broker(t).URL() },
		"external": func(t *testing.T) string { return bustest.Start(t, "").URL() },
	} {
		t.Run(where, func(t *testing.T) {
			address := url(t)
			conn, err := bus.Connect(t.Context(), bus.Options{URL: address, Patience: FramePatience})
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for name, j := range junk {
				t.Run(name, func(t *testing.T) { suffer(t, conn, address, j) })
			}
		})
	}
}

// suffer runs a stream that receives junk, until 30 of the publisher's later frames were tracked.
func suffer(t *testing.T, conn *bus.Conn, url string, j intrusion) {
	s, c := newNATSSource(t, url), &choosy{}
	var clock atomic.Int64 // clock of the publisher and of the source
	s.now = func() time.Time { return time.Unix(0, clock.Load()) }
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	source := &told{Source: s, opened: make(chan struct{}), reads: make(chan struct{}, 1)}
	var summary pipeline.Summary
	done := make(chan error, 1)
	go func() {
		stages := pipeline.Stages{Source: source, Encoders: []pipeline.Encoder{c}, Estimator: c, Sinks: []pipeline.NamedSink{{Name: "seen", Sink: choosySink{c}}}}
		var err error
		summary, err = pipeline.Run(ctx, stages, pipeline.Options{Queue: 256}) // junk waits for the tracker, even on a busy machine
		done <- err
	}()
	<-source.opened
	send := func(m *nats.Msg) { // send waits until the message was read
		if err := conn.NATS().PublishMsg(m); err != nil {
			t.Fatal(err)
		}
		select {
		case <-source.reads:
		case <-ctx.Done():
		case err := <-done:
			t.Fatalf("the run ended: %v", err)
		}
	}
	seq := 0
	publish := func() {
		clock.Add(int64(10 * time.Millisecond))
		send(example(seq))
		seq++
	}
	for range j.before {
		publish()
	}
	for _, m := range j.messages() {
		send(m)
	}
	for end := c.tracked() + 30; c.tracked() < end && ctx.Err() == nil; {
		publish()
	}
	if ctx.Err() != nil {
		t.Error("the publisher that goes on was not tracked within a minute")
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatalf("the run ended: %v", err)
	}
	accounted(t, &summary, j.causes)
	for i := max(1, len(c.latents)-20); i < len(c.latents); i++ {
		if last, z := c.latents[i-1], c.latents[i]; z.Trajectory != last.Trajectory || z.Seq <= last.Seq {
			t.Errorf("frame %d of trajectory %d follows frame %d of %d", z.Seq, z.Trajectory, last.Seq, last.Trajectory)
		}
	}
	said := map[string]uint64{}
	for _, e := range c.events {
		said[e.Code] += e.Count
	}
	for cause := range j.causes {
		if said[cause] != summary.Dropped[cause] {
			t.Errorf("events tell of %d %s, %d are counted", said[cause], cause, summary.Dropped[cause])
		}
	}
	if most := 20 + int(summary.Duration.Seconds())*len(said); len(c.events) > most {
		t.Errorf("%d events %v in %v", len(c.events), said, summary.Duration)
	}
}

// accounted fails the test unless every frame was tracked or dropped, with the expected causes.
func accounted(t *testing.T, summary *pipeline.Summary, causes map[string]uint64) {
	t.Helper()
	dropped := uint64(0)
	for cause, n := range summary.Dropped {
		if !strings.HasPrefix(cause, "sink_") {
			dropped += n
		}
	}
	if summary.FramesIn != summary.Tracked+dropped {
		t.Errorf("%d frames in, %d tracked, dropped %v", summary.FramesIn, summary.Tracked, summary.Dropped)
	}
	for cause := range causes {
		if summary.Dropped[cause] < causes[cause] {
			t.Errorf("dropped %v, at least %d %s expected", summary.Dropped, causes[cause], cause)
		}
	}
}

// told is a source that signals when it is open and when it has read a message.
type told struct {
	*Source
	opened, reads chan struct{}
}

func (o *told) Open(ctx context.Context) error {
	defer close(o.opened)
	return o.Source.Open(ctx)
}

func (o *told) Read(ctx context.Context) (*frame.Frame, error) {
	f, err := o.Source.Read(ctx)
	select {
	case o.reads <- struct{}{}:
	case <-ctx.Done():
	}
	return f, err
}
