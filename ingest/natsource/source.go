package natsource

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/png"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"
	"gocv.io/x/gocv"

	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/timing"
	"driftscope/ingest/wire"
	"driftscope/internal/bus"
	"driftscope/internal/frame"
	"driftscope/internal/pipeline"
)

// DefaultNATS is where frames are looked for and published to: also where a run's own server listens unless told otherwise.
const DefaultNATS = "nats://127.0.0.1:4222"

// The bounds on messages that wait for Read; what goes beyond is lost and counted.
const (
	pendingMessages = 1 << 16
	pendingBytes    = 96 << 20 // a frame of the largest, and half of the next
)

// answering is how long a connected server may take to take the subscription.
const answering = 5 * time.Second

// natsOptions are the keys of a NATS source.
type natsOptions struct {
	Subject     string `yaml:"subject"`
	URL         string `yaml:"url"`         // default DefaultNATS, or the server inside the same run
	Credentials string `yaml:"credentials"` // path of a .creds file
}

// Source gives the frames that another program publishes on a subject; package wire has their form. While the server is away the
// connection comes back by itself, and the publisher's sequence numbers say what was missed; so Read returns ErrNotConnected only
// where the connection was closed for good.
type Source struct {
	options natsOptions
	clock   timing.Clock

	conn         *bus.Conn
	subscription *nats.Subscription
	stream       wire.Stream
	now          func() time.Time
	first        uint64      // the stream's number that is this Open's 0
	held         *wire.Frame // whole; the error of a frame before it was returned first
	dropped      uint64      // frames lost since the last one that was given
	renewed      int         // times since the event that another publisher is followed
	notified     time.Time   // then
	overrun      int         // messages that the subscription has thrown away
}

// New makes the source of a subject.
func New(decode func(dst any) error) (pipeline.Source, error) {
	o := natsOptions{URL: DefaultNATS}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := checkSubject(o.Subject); err != nil {
		return nil, err
	}
	if o.URL == bus.Embedded {
		return nil, fmt.Errorf("url: embedded is the server inside a run: give its address, %s unless nats.port says otherwise", DefaultNATS)
	}
	return &Source{options: o, now: time.Now}, nil
}

// Options are the options that a person means by nats:SUBJECT or nats://host:port/SUBJECT, without the nats:.
func Options(arg string) map[string]any {
	address, found := strings.CutPrefix(arg, "//")
	if !found {
		return map[string]any{"subject": arg}
	}
	host, subject, _ := strings.Cut(address, "/")
	return map[string]any{"url": "nats://" + host, "subject": subject}
}

// checkSubject accepts one subject of one publisher.
func checkSubject(subject string) error {
	const most = 255
	if subject == "" {
		return errors.New("subject is missing: give the one that frames are published on, such as camera.bead")
	}
	bad := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '*' || r == '>' }
	if len(subject) > most || strings.ContainsFunc(subject, bad) || strings.Contains("."+subject+".", "..") {
		return fmt.Errorf("subject: found %.80q, expected at most %d characters, words with dots between them and no *, > or space: one publisher needs one subject", subject, most)
	}
	return nil
}

// Live says that the publisher does not wait.
func (s *Source) Live() bool { return true }

// Public says that the frames are those of anyone who may publish on the subject.
func (s *Source) Public() bool { return true }

// Timed says that the publisher gives the times.
func (s *Source) Timed() bool { return true }

// Open connects, within 5 s, and subscribes. What was published before is not there; after the first Open, it is counted as lost.
func (s *Source) Open(ctx context.Context) (err error) {
	*s = Source{
		options: s.options, clock: timing.OwnTimes(), stream: s.stream, now: s.now,
		first: s.stream.Next() - s.dropped, dropped: s.dropped, renewed: s.renewed, notified: s.notified,
	}
	s.conn, err = bus.Connect(ctx, bus.Options{URL: s.options.URL, Credentials: s.options.Credentials, Name: "driftscope frames " + s.options.Subject})
	if errors.Is(err, bus.ErrNoServer) {
		return fmt.Errorf("%s: %w: start the server that the publisher uses, or give its address as nats://host:port/%s", bus.Redacted(s.options.URL), bus.ErrNoServer, s.options.Subject)
	}
	if err != nil {
		return err
	}
	if s.subscription, err = s.conn.NATS().SubscribeSync(s.options.Subject); err == nil {
		err = s.subscription.SetPendingLimits(pendingMessages, pendingBytes)
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, answering)
		defer cancel()
		err = s.conn.NATS().FlushWithContext(ctx)
	}
	if err == nil && errors.Is(s.conn.NATS().LastError(), nats.ErrPermissionViolation) {
		err = s.conn.NATS().LastError()
	}
	if err != nil {
		return fmt.Errorf("%s on %s: %w: check the subject and the credentials", s.options.Subject, s.conn.URL(), err)
	}
	return nil
}

// Read waits for a whole frame. Messages that are torn, contradict each other or are none are skipped, each under its cause.
func (s *Source) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		if whole := s.held; whole != nil {
			s.held = nil
			return s.give(whole)
		}
		m, err := s.subscription.NextMsgWithContext(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, nats.ErrSlowConsumer):
			continue // counted by the subscription
		case err != nil:
			return nil, fmt.Errorf("%s on %s: %w: %w", s.options.Subject, s.conn.URL(), pipeline.ErrNotConnected, err)
		}
		s.held, err = s.stream.Take(s.now(), m.Header, m.Data)
		var lost *wire.Lost
		if errors.As(err, &lost) {
			return nil, s.lost(lost.Cause, lost.Err)
		}
	}
}

// give makes the frame of a whole picture.
func (s *Source) give(whole *wire.Frame) (*frame.Frame, error) {
	s.clock.Renumber(whole.Number - s.first)
	s.dropped += whole.Dropped
	if whole.Renewed {
		s.renewed++
		s.clock.Refit() // its pictures may be of another size and type
	}
	mat, err := toPicture(whole)
	if err != nil {
		return nil, s.lost("unreadable_picture", fmt.Errorf("frame %d: %w", whole.Seq, err))
	}
	f, err := s.clock.FrameAt(mat, whole.Time, frame.Meta{File: s.options.Subject, Trajectory: whole.Trajectory, Dropped: s.dropped})
	if err != nil {
		return nil, err
	}
	s.dropped = 0
	s.notifyRenewed(f)
	if n, err := s.subscription.Dropped(); err == nil && n > s.overrun {
		f.Notice(true, "messages_overrun", fmt.Sprintf("%d messages on %s came faster than they were taken and were lost; the frames among them are counted: publish fewer frames, or smaller ones", n-s.overrun, s.options.Subject))
		s.overrun = n
	}
	return f, nil
}

// notifyRenewed says, once a second at most, that other frames are followed than before.
func (s *Source) notifyRenewed(f *frame.Frame) {
	now := s.now()
	if s.renewed == 0 || now.Sub(s.notified) < time.Second {
		return
	}
	text := fmt.Sprintf("the publisher on %s started anew, or another took its place: a new trajectory begins", s.options.Subject)
	if s.renewed > 1 {
		text = fmt.Sprintf("the publisher on %s started anew %d times, or others took its place: a new trajectory begins at each: give each publisher its own subject", s.options.Subject, s.renewed)
	}
	f.Notice(s.renewed > 1, "publisher_restarted", text)
	s.renewed, s.notified = 0, now
}

func (s *Source) lost(cause string, err error) error {
	return &pipeline.ErrSkip{Cause: cause, Err: fmt.Errorf("%s: %w", s.options.Subject, err)}
}

// toPicture makes a Mat of a whole frame, which the caller owns.
func toPicture(whole *wire.Frame) (gocv.Mat, error) {
	page := tiff.Image{Width: whole.Width, Height: whole.Height, Channels: whole.Channels, Depth: whole.Depth, Pix: whole.Bytes}
	if !whole.PNG {
		return picture.ToMat(&page)
	}
	header, err := png.DecodeConfig(bytes.NewReader(whole.Bytes))
	if err != nil {
		return gocv.Mat{}, fmt.Errorf("not a readable PNG (%w): correct the publisher", err)
	}
	if header.Width != whole.Width || header.Height != whole.Height { // before memory is taken for it
		return gocv.Mat{}, fmt.Errorf("the PNG has %dx%d pixels, its headers say %dx%d: correct the publisher", header.Width, header.Height, whole.Width, whole.Height)
	}
	mat, err := picture.Decode(whole.Bytes)
	if err != nil {
		return gocv.Mat{}, err
	}
	if mat.Type() != picture.MatType(&page) {
		defer mat.Close()
		return gocv.Mat{}, fmt.Errorf("the PNG has %s, its headers say %s: correct the publisher", picture.TypeName(int(mat.Type())), picture.TypeName(int(picture.MatType(&page))))
	}
	return mat, nil
}

// Close ends the subscription and the connection.
func (s *Source) Close() error {
	if s.subscription != nil {
		s.subscription.Unsubscribe() // what waits is not wanted: draining would read it first
		s.subscription = nil
	}
	err := s.conn.Close()
	s.conn = nil
	return err
}
