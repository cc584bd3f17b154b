package sinks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/bus"
	"driftscope/internal/latent"
)

// natsSink publishes every message on <prefix>.<site>.<stream>.<kind>, some latents on .glance too, and takes commands.
type natsSink struct {
	encoder
	*service
	end      func() error // of answering for the stream
	bus      *bus.Conn
	subjects map[latent.Kind]string
	latest   records
	glance   glance
	eye      string                          // the subject of latents for the eye
	durable  *durable                        // nil where nothing is kept
	shown    offer                           // what the spool refused last, and those who look on have seen
	made     uint64                          // identities before that
	publish  func(latent.Kind, []byte) error // kept, so that a frame needs no new closure
}

// maxFlush is how long the server may take to confirm the last messages, where ctx says no less.
const maxFlush = 3 * time.Second

func newNATS(decode func(any) error, env Env) (Sink, error) {
	var o natsOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if env.Bus == nil {
		return nil, errors.New("there is no connection: set nats.url to embedded or nats://host:port")
	}
	subject, err := env.Bus.Subject(env.Stream)
	if err != nil {
		return nil, err
	}
	s := &natsSink{encoder: encoder{stream: env.Stream}, bus: env.Bus, subjects: map[latent.Kind]string{}, eye: subject.Of(GlanceToken)}
	for _, kind := range []latent.Kind{latent.KindLatent, latent.KindSDE, latent.KindEvent, latent.KindHealth, latent.KindView, latent.KindTrigger} {
		s.subjects[kind] = subject.Of(string(kind))
	}
	s.publish = s.send
	if o.Durable {
		if s.durable, err = newDurable(s.bus, subject, o, env.Log); err != nil {
			return nil, err
		}
		env.Metrics.watch(env.Stream, s.durable.spool.waiting)
	}
	s.service = newService(env, &s.latest, s.durable)
	if err := s.answer(env, subject); err != nil {
		if s.durable != nil {
			err = errors.Join(err, s.durable.close(context.Background()))
		}
		return nil, err
	}
	return s, nil
}

// answer begins to answer for the stream: through what answers for it also while it is stopped, or through endpoints of this sink's own.
func (s *natsSink) answer(env Env, subject bus.Subject) error {
	if env.Service != nil {
		s.end = func() error { s.service.end(); env.Service.detach(s.service); return nil }
		return env.Service.attach(s.service)
	}
	own, err := newEndpoints(s.bus, env.Stream, subject, env.Log, s.service.carryOut)
	if err != nil {
		return err
	}
	s.service.doors.Store(own)
	s.end = func() error { s.service.end(); return own.stop() }
	return nil
}

// Commands gives the commands as they arrive.
func (s *natsSink) Commands() <-chan latent.Command { return s.commands }

// Write publishes m, and spools what is to be kept first. Where the spool has no room, or nothing is kept and the server is away, it
// returns an error that says Undelivered.
func (s *natsSink) Write(_ context.Context, m latent.Message) error {
	switch m.(type) {
	case *latent.Estimate, *latent.Law, *latent.Event, *latent.Trigger:
		if s.durable != nil {
			return s.keep(m)
		}
	}
	return s.encode(m, s.publish)
}

// keep spools m, and publishes it for those who look on: they may miss it, the spool may not. What the spool does not take they see all
// the same, once, however often it is offered again; but not a law, which stays news.
// Its identities stay the same then: one that is missing in the stream tells of a message that was given up.
func (s *natsSink) keep(m latent.Message) error {
	revision, field, this := s.revision, s.field, offerOf(m)
	seen := s.shown == this
	if seen {
		s.durable.made = s.made
	}
	s.made = s.durable.made
	s.durable.clear()
	if err := s.encode(m, s.durable.add); err != nil {
		return err
	}
	refused := s.durable.commit()
	s.shown = offer{}
	if refused != nil {
		s.revision, s.field, s.shown = revision, field, this
		refused = away{refused}
	}
	for _, r := range s.durable.marks {
		if law := r.kind == latent.KindSDE; law && refused != nil || !law && seen {
			continue
		}
		var lost away
		if err := s.send(r.kind, s.durable.batch[r.from:r.to]); err != nil && !errors.As(err, &lost) {
			return err
		}
	}
	return refused
}

// offer tells a message that is written again from one that was written into the same memory.
type offer struct {
	m   latent.Message
	seq uint64
}

func offerOf(m latent.Message) offer {
	o := offer{m: m}
	if e, ok := m.(*latent.Estimate); ok {
		o.seq = e.Latent.Seq
	}
	return o
}

// send publishes a record live.
func (s *natsSink) send(kind latent.Kind, line []byte) error {
	s.latest.keep(kind, line)
	if err := s.publishOn(s.subjects[kind], line); err != nil || !s.glance.take(kind, time.Now()) {
		return err
	}
	if kind != latent.KindLatent {
		line = s.latest.last(latent.KindLatent)
	}
	return s.publishOn(s.eye, line)
}

// publishOn publishes a record on one subject.
func (s *natsSink) publishOn(subject string, line []byte) error {
	if !s.bus.Connected() {
		return away{errAway}
	}
	err := s.bus.NATS().Publish(subject, line)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%s: a message of %d bytes, the server takes %d: raise its max_payload", subject, len(line), s.bus.NATS().MaxPayload())
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrBadSubject):
		return fmt.Errorf("%s: %w", subject, err)
	}
	return away{fmt.Errorf("%w (%w)", errAway, err)}
}

// Close takes no more commands, refuses those that wait, and waits itself, within ctx, until the server has every message.
func (s *natsSink) Close(ctx context.Context) error {
	stopped := s.end()
	ctx, cancel := context.WithTimeout(ctx, maxFlush)
	defer cancel()
	if s.durable != nil {
		stopped = errors.Join(stopped, s.durable.close(ctx))
	}
	if !s.bus.Connected() {
		return stopped // nothing else waits for a server that is away
	}
	return errors.Join(stopped, s.bus.NATS().FlushWithContext(ctx))
}

var errAway = errors.New("the NATS server is away: messages are lost until it is back")

// away is the error of a message that cannot be delivered now.
type away struct{ cause error }

func (a away) Error() string { return a.cause.Error() }

// Undelivered says that only this message is lost: see pipeline.Sink.
func (away) Undelivered() bool { return true }
