package sinks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/bus"
	"driftscope/internal/latent"
)

// natsSink publishes every message on <prefix>.<site>.<stream>.<kind>, and takes commands on <prefix>.<site>.<stream>.cmd.*: an
// empty request to .cmd.pause is answered "ok", or with the reason why not.
type natsSink struct {
	encoder
	conn     *nats.Conn
	subjects map[latent.Kind]string
	publish  func(latent.Kind, []byte) error // kept, so that a frame needs no new closure

	requests *nats.Subscription
	commands chan latent.Command
	ended    chan struct{}
}

// Bounds on commands that wait for the tracker; more are dropped by the client library, and time out at the one who asks.
const (
	maxRequests     = 64
	maxRequestBytes = 64 << 10
)

// maxFlush is how long the server may take to confirm the last messages, where ctx says no less.
const maxFlush = 3 * time.Second

func newNATS(decode func(any) error, env Env) (Sink, error) {
	if err := decode(&struct{}{}); err != nil {
		return nil, err
	}
	if env.Bus == nil {
		return nil, errors.New("there is no connection: set nats.url to embedded or nats://host:port")
	}
	subject, err := env.Bus.Subject(env.Stream)
	if err != nil {
		return nil, err
	}
	s := &natsSink{
		encoder:  encoder{stream: env.Stream},
		conn:     env.Bus.NATS(),
		subjects: map[latent.Kind]string{},
		commands: make(chan latent.Command),
		ended:    make(chan struct{}),
	}
	for _, kind := range []latent.Kind{latent.KindLatent, latent.KindSDE, latent.KindEvent, latent.KindHealth, latent.KindView} {
		s.subjects[kind] = subject.Of(string(kind))
	}
	s.publish = s.send
	return s, s.listen(subject)
}

// listen takes commands from now on.
func (s *natsSink) listen(subject bus.Subject) (err error) {
	if s.requests, err = s.conn.Subscribe(subject.Of("cmd.*"), s.request); err != nil {
		return err
	}
	return s.requests.SetPendingLimits(maxRequests, maxRequestBytes)
}

// Commands gives the commands as they arrive.
func (s *natsSink) Commands() <-chan latent.Command { return s.commands }

// request passes one command on; the runner answers it.
func (s *natsSink) request(m *nats.Msg) {
	answer := func(err error) {
		text := "ok"
		if err != nil {
			text = err.Error()
		}
		m.Respond([]byte(text)) // an asker who is gone is no failure
	}
	c := latent.Command{Name: m.Subject[strings.LastIndexByte(m.Subject, '.')+1:], Reply: answer}
	select {
	case s.commands <- c:
	case <-s.ended:
		answer(errors.New("the run is ending: the command was not applied"))
	}
}

// Write publishes m. While the server is away it returns an error that says Undelivered.
func (s *natsSink) Write(_ context.Context, m latent.Message) error {
	return s.encode(m, s.publish)
}

func (s *natsSink) send(kind latent.Kind, line []byte) error {
	err := s.conn.Publish(s.subjects[kind], line)
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded):
		return away{}
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%s: a message of %d bytes, the server takes %d: raise its max_payload", s.subjects[kind], len(line), s.conn.MaxPayload())
	case err != nil:
		return fmt.Errorf("%s: %w", s.subjects[kind], err)
	}
	return nil
}

// Close takes no more commands, refuses those that wait, and waits itself, within ctx, until the server has every message.
func (s *natsSink) Close(ctx context.Context) error {
	close(s.ended)
	if !s.conn.IsConnected() {
		return nil // nothing waits for a server that is away
	}
	if err := s.requests.Drain(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxFlush)
	defer cancel()
	return s.conn.FlushWithContext(ctx)
}

// away is the error of a message that cannot be delivered now.
type away struct{}

func (away) Error() string {
	return "the NATS server is away: messages are lost until it is back"
}

// Undelivered says that only this message is lost: see pipeline.Sink.
func (away) Undelivered() bool { return true }
