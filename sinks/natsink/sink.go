package natsink

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// Sink publishes every message on <prefix>.<site>.<stream>.<kind>, a sample of the latents on .glance too, and takes commands.
type Sink struct {
	encoder   message.Encoder
	responder *responder
	detach    func() error // ends the answering for this stream
	bus       *bus.Conn
	subjects  map[latent.Kind]string
	latest    latest
	samplers  [2]sampler                      // of latents and of objects
	sampled   string                          // the subject of sampled latents
	durable   *durable                        // nil where nothing is kept
	refused   identity                        // of the message that the spool refused last; it was published live
	before    made                            // identities that were given before that message's
	lease     Lease                           // nil where the stream needs none
	publish   func(latent.Kind, []byte) error // s.send: a method value made for every frame would be allocated
}

// Env is what a stream lends its NATS sink, which closes none of it.
type Env struct {
	Stream   string
	About    func() About               // what runs now; asked from any goroutine. nil says nothing
	Bus      *bus.Conn                  // nil is refused
	Bucket   *Bucket                    // nil where nothing is kept
	Service  *Service                   // nil where the stream ends with its run
	Lease    Lease                      // under which the stream runs; nil where it needs none
	Standing *Standing                  // of a leased stream whose frames come again; nil where they do not
	Log      *slog.Logger               // nil is silent
	Watch    func(waiting func() int64) // is given how many bytes wait in the spool, where there is one; may be nil
}

// maxFlush is how long the server may take to confirm the last messages, where ctx says no less.
const maxFlush = 3 * time.Second

// New makes the sink of a stream, which answers commands from now on. decode fills the options of durability.
func New(decode func(any) error, env Env) (*Sink, error) {
	var o natsOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if env.Bus == nil {
		return nil, errors.New("there is no connection: set nats.url to embedded or nats://host:port")
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	subject, err := env.Bus.Subject(env.Stream)
	if err != nil {
		return nil, err
	}
	s := &Sink{encoder: message.Encoder{Stream: env.Stream, Epoch: epochOf(env.Lease)}, bus: env.Bus, lease: env.Lease, subjects: map[latent.Kind]string{}, sampled: subject.Of(SampledToken)}
	for _, kind := range []latent.Kind{latent.KindLatent, latent.KindSDE, latent.KindEvent, latent.KindHealth, latent.KindView, latent.KindTrigger,
		latent.KindObjects, latent.KindTrack, latent.KindPopulation} {
		s.subjects[kind] = subject.Of(string(kind))
	}
	s.samplers = [2]sampler{{kind: latent.KindLatent}, {kind: latent.KindObjects}}
	s.publish = s.send
	if o.Durable {
		if s.durable, err = newDurable(env, subject, o); err != nil {
			return nil, err
		}
		if env.Watch != nil {
			env.Watch(s.durable.spool.Waiting)
		}
	}
	s.responder = newResponder(env, &s.latest, s.durable)
	if err := s.answer(env, subject); err != nil {
		if s.durable != nil {
			err = errors.Join(err, s.durable.close(context.Background()))
		}
		return nil, err
	}
	return s, nil
}

// answer begins to answer for the stream: through env.Service where there is one, else through endpoints of this sink's own.
func (s *Sink) answer(env Env, subject bus.Subject) error {
	if env.Service != nil {
		s.detach = func() error { s.responder.end(); env.Service.detach(s.responder); return nil }
		return env.Service.attach(s.responder)
	}
	own, err := newEndpoints(s.bus, env.Stream, subject, env.Log, s.responder.carryOut)
	if err != nil {
		return err
	}
	s.responder.endpoints.Store(own)
	s.detach = func() error { s.responder.end(); return own.stop() }
	return nil
}

// Commands gives the commands as they arrive.
func (s *Sink) Commands() <-chan latent.Command { return s.responder.commands }

// Write publishes m, and spools what is to be kept first. It returns latent.Undelivered where the spool has no room, or where nothing is
// kept and the server is away, and latent.CutShort where the server takes no message as large.
func (s *Sink) Write(_ context.Context, m latent.Message) error {
	if e, ok := m.(*latent.Estimate); ok && e.Objects != nil { // asking takes the connection's lock
		s.encoder.Limit = max(int(s.bus.NATS().MaxPayload())-headerRoom, 0)
	}
	if err := s.write(m); err != nil {
		return err
	}
	if n := s.encoder.Left(); n > 0 {
		return latent.CutShort{Places: n, Bytes: s.encoder.Limit + headerRoom}
	}
	return nil
}

// headerRoom is what is left of a message for the headers of one that is kept, which count.
const headerRoom = 1024

// write is Write, whatever is left out.
func (s *Sink) write(m latent.Message) error {
	switch m.(type) {
	case *latent.Estimate, *latent.Law, *latent.Event, *latent.Trigger, *latent.Track, *latent.Population:
		if s.durable != nil {
			return s.keep(m)
		}
	}
	return s.encoder.Encode(m, s.publish)
}

// Relay publishes the JSON of a record as it is, live: of a run that is shown again. Nothing is kept of it.
func (s *Sink) Relay(kind latent.Kind, line []byte) error { return s.send(kind, line) }

// keep spools m, and publishes it live. Live subscribers may miss a message, the spool may not. A message that the spool refuses is
// published live once, however often it is written again; its law is not, and is encoded again with the message that is taken.
// The message keeps its identities meanwhile, so that a number that is missing in the JetStream stream is a message that was given up.
func (s *Sink) keep(m latent.Message) error {
	if s.durable.fenced.Load() {
		return ErrFenced
	}
	sent, this := s.encoder.Sent(), identityOf(m)
	again := s.refused == this
	if again {
		s.durable.made = s.before
	}
	s.before = s.durable.made
	s.durable.begin(m)
	if err := s.encoder.Encode(m, s.durable.add); err != nil {
		return err
	}
	refused := s.durable.commit()
	s.refused = identity{}
	if refused != nil {
		s.encoder.Resend(sent)
		s.refused = this
		refused = latent.Undelivered{Cause: refused}
	}
	for _, r := range s.durable.marks {
		if law := r.kind == latent.KindSDE; law && refused != nil || !law && again {
			continue
		}
		var lost latent.Undelivered
		if err := s.send(r.kind, s.durable.batch[r.from:r.to]); err != nil && !errors.As(err, &lost) {
			return err
		}
	}
	return refused
}

// identity distinguishes a message that is written again from another one in the same memory.
type identity struct {
	m   latent.Message
	seq uint64
}

func identityOf(m latent.Message) identity {
	i := identity{m: m}
	if e, ok := m.(*latent.Estimate); ok {
		i.seq = e.Latent.Seq
	}
	return i
}

// send publishes a record live.
func (s *Sink) send(kind latent.Kind, line []byte) error {
	s.latest.keep(kind, line)
	if err := s.publishOn(s.subjects[kind], line); err != nil {
		return err
	}
	for i := range s.samplers {
		of := &s.samplers[i]
		if !of.take(kind, time.Now()) {
			continue
		}
		if kind != of.kind {
			line = s.latest.last(of.kind)
		}
		if err := s.publishOn(s.sampled, line); err != nil {
			return err
		}
	}
	return nil
}

// publishOn publishes a record on one subject.
func (s *Sink) publishOn(subject string, line []byte) error {
	if !valid(s.lease) {
		return ErrFenced
	}
	if !s.bus.Connected() {
		return latent.Undelivered{Cause: errAway}
	}
	err := s.bus.NATS().Publish(subject, line)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%s: a message of %d bytes, the server accepts %d: raise its max_payload", subject, len(line), s.bus.NATS().MaxPayload())
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrBadSubject):
		return fmt.Errorf("%s: %w", subject, err)
	}
	return latent.Undelivered{Cause: fmt.Errorf("%w (%w)", errAway, err)}
}

// Close takes no more commands, refuses those that wait, and waits itself, within ctx, until the server has every message.
func (s *Sink) Close(ctx context.Context) error {
	stopped := s.detach()
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
