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
	Subject     string `yaml:"subject" reaches:"nothing"`
	URL         string `yaml:"url" reaches:"address"`      // default DefaultNATS, or the server inside the same run
	Credentials string `yaml:"credentials" reaches:"read"` // path of a .creds file
	CA          string `yaml:"ca" reaches:"read"`          // path of the certificates that the server's is checked against
	Durable     *Keep  `yaml:"durable"`                    // read from JetStream; frames in a configuration
}

// Source gives the frames that another program publishes on a subject; package wire has their form. While the server is away the
// connection comes back by itself, and the publisher's sequence numbers say what was missed; so Read returns ErrNotConnected only
// where the connection was closed for good.
type Source struct {
	assembly
	conn         *bus.Conn
	subscription *nats.Subscription
	now          func() time.Time
	overrun      int // messages that the subscription has thrown away
}

// New makes the source of a subject: a Source, or where frames are kept a Durable.
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
	if o.Durable != nil {
		if err := o.Durable.Check(); err != nil {
			return nil, fmt.Errorf("durable.%w", err)
		}
		return &Durable{assembly: assembly{options: o}}, nil
	}
	return &Source{assembly: assembly{options: o}, now: time.Now}, nil
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

// connect dials the server, within 5 s.
func (o *natsOptions) connect(ctx context.Context) (*bus.Conn, error) {
	conn, err := bus.Connect(ctx, bus.Options{URL: o.URL, Credentials: o.Credentials, CA: o.CA, Name: "driftscope frames " + o.Subject, Log: bus.Warnings().With("frames", o.Subject)})
	if errors.Is(err, bus.ErrNoServer) {
		return nil, fmt.Errorf("%s: %w: start the server that the publisher uses, or give its address as nats://host:port/%s", bus.Redacted(o.URL), bus.ErrNoServer, o.Subject)
	}
	return conn, err
}

// Info says that the publisher does not wait and gives the times, and that anyone who may publish on the subject gives the frames.
func (s *Source) Info() pipeline.Info { return pipeline.Info{Live: true, Timed: true, Public: true} }

// Open connects, within 5 s, and subscribes. What was published before is not there; after the first Open, it is counted as lost.
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

// Read waits for a whole frame. Messages that are torn, contradict each other or are none are skipped, each under its cause.
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

// notifyOverrun says how many messages the subscription has thrown away.
func (s *Source) notifyOverrun(f *frame.Frame) {
	if n, err := s.subscription.Dropped(); err == nil && n > s.overrun {
		f.Notice(true, "messages_overrun", fmt.Sprintf("%d messages on %s came faster than they were taken and were lost; the frames among them are counted: publish fewer frames, or smaller ones", n-s.overrun, s.options.Subject))
		s.overrun = n
	}
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
