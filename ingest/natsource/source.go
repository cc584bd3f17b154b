package natsource

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/pipeline"
)

// DefaultNATS is the default server address of sources and publishers, and of a run's own server.
const DefaultNATS = "nats://127.0.0.1:4222"

// Bounds on the messages that wait for Read. Further messages are lost and counted.
const (
	pendingMessages = 1 << 16
	pendingBytes    = 96 << 20 // one and a half frames of the largest size
)

// answering bounds the wait until a connected server confirms a subscription.
const answering = 5 * time.Second

// natsOptions are the keys of a NATS source.
type natsOptions struct {
	Subject     string `yaml:"subject" reaches:"nothing"`
	URL         string `yaml:"url" reaches:"address"`      // default DefaultNATS, or the server in the same run
	Credentials string `yaml:"credentials" reaches:"read"` // path of a .creds file
	CA          string `yaml:"ca" reaches:"read"`          // path of the certificates that verify the server
	Places      bool   `yaml:"places"`                     // messages contain positions of objects instead of pictures
	Durable     *Keep  `yaml:"durable"`                    // read from JetStream; in a configuration the key is frames
}

// Source returns the frames that another program publishes on a subject; package wire defines the format. The connection
// recovers by itself, and the publisher's sequence numbers reveal lost frames. Read therefore returns ErrNotConnected only if
// the connection is closed for good.
type Source struct {
	assembly
	conn         *bus.Conn
	subscription *nats.Subscription
	now          func() time.Time
	overrun      int // messages that the subscription dropped
}

// New makes the source of a subject: a Source, or a Durable if the options ask for JetStream.
func New(decode func(dst any) error) (pipeline.Source, error) {
	o := natsOptions{URL: DefaultNATS}
	if err := decode(&o); err != nil {
		return nil, err
	}
	if err := checkSubject(o.Subject); err != nil {
		return nil, err
	}
	if o.URL == bus.Embedded {
		return nil, fmt.Errorf("url is embedded, the server inside a run: give its address, which is %s unless nats.port is set", DefaultNATS)
	}
	if o.Durable != nil {
		if err := o.Durable.Check(); err != nil {
			return nil, fmt.Errorf("durable.%w", err)
		}
		return &Durable{assembly: assembly{options: o}}, nil
	}
	return &Source{assembly: assembly{options: o}, now: time.Now}, nil
}

// Options returns the options for nats:SUBJECT or nats://host:port/SUBJECT. arg is the text after nats:.
func Options(arg string) map[string]any {
	address, found := strings.CutPrefix(arg, "//")
	if !found {
		return map[string]any{"subject": arg}
	}
	host, subject, _ := strings.Cut(address, "/")
	return map[string]any{"url": "nats://" + host, "subject": subject}
}

// checkSubject returns an error unless subject is a single subject without wildcards.
func checkSubject(subject string) error {
	const most = 255
	if subject == "" {
		return errors.New("subject is missing: give the subject on which frames are published, such as camera.bead")
	}
	bad := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '*' || r == '>' }
	if len(subject) > most || strings.ContainsFunc(subject, bad) || strings.Contains("."+subject+".", "..") {
		return fmt.Errorf("subject: found %.80q, expected at most %d characters, words separated by dots, without *, > and spaces: one publisher needs one subject", subject, most)
	}
	return nil
}

// connect dials the server, within 5 s.
func (o *natsOptions) connect(ctx context.Context) (*bus.Conn, error) {
	conn, err := bus.Connect(ctx, bus.Options{URL: o.URL, Credentials: o.Credentials, CA: o.CA, Name: "driftscope frames " + o.Subject, Log: bus.Warnings().With("frames", o.Subject)})
	if errors.Is(err, bus.ErrNoServer) {
		return nil, fmt.Errorf("%s: %w: start the publisher's server, or give its address as nats://host:port/%s", bus.Redacted(o.URL), bus.ErrNoServer, o.Subject)
	}
	return conn, err
}

// Info reports that the source is live, that frames have the publisher's times, and that they are untrusted because anyone may publish on the subject.
func (s *Source) Info() pipeline.Info {
	return pipeline.Info{Live: true, Timed: true, Public: true, Places: s.options.Places}
}

// Open connects, within 5 s, and subscribes. Earlier frames are not available; after the first Open they count as lost.
func (s *Source) Open(ctx context.Context) (err error) {
	*s = Source{assembly: s.again(), now: s.now}
	if s.conn, err = s.options.connect(ctx); err != nil {
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

// Read waits for a whole frame. It skips torn, contradictory and invalid messages, each with its cause.
func (s *Source) Read(ctx context.Context) (*frame.Frame, error) {
	for {
		if s.held != nil {
			f, err := s.give()
			if err == nil {
				s.notifyOverrun(f)
			}
			return f, err
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
		if err := s.take(s.now(), m.Header, m.Data); err != nil {
			return nil, err
		}
	}
}

// notifyOverrun reports the number of messages that the subscription dropped.
func (s *Source) notifyOverrun(f *frame.Frame) {
	if n, err := s.subscription.Dropped(); err == nil && n > s.overrun {
		f.Notice(true, "messages_overrun", fmt.Sprintf("%d messages on %s were lost because they arrived faster than they were read, and their frames were counted as dropped: publish fewer or smaller frames", n-s.overrun, s.options.Subject))
		s.overrun = n
	}
}

// Close ends the subscription and the connection.
func (s *Source) Close() error {
	if s.subscription != nil {
		s.subscription.Unsubscribe() // not drained, because nobody needs the waiting messages
		s.subscription = nil
	}
	err := s.conn.Close()
	s.conn = nil
	return err
}
