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

// Sink publishes every message on <prefix>.<site>.<stream>.<kind>, publishes samples of the latents also on .glance, and receives commands.
type Sink struct {
	encoder   message.Encoder
	responder *responder
	detach    func() error // stops answering for this stream
	bus       *bus.Conn
	subjects  map[latent.Kind]string
	latest    latest
	samplers  [2]sampler                      // samplers of latents and of objects
	sampled   string                          // the subject of sampled latents
	durable   *durable                        // nil without durability
	refused   identity                        // identity of the message that the spool refused last, and that was published live
	before    made                            // counts of identities before that message
	lease     Lease                           // nil if the stream needs no lease
	publish   func(latent.Kind, []byte) error // s.send, stored because a method value per frame would allocate
}

// Env holds the stream's resources for its NATS sink, which closes none of them.
type Env struct {
	Stream   string
	About    func() About               // returns a description of the present run; callable from any goroutine; nil if unknown
	Bus      *bus.Conn                  // required
	Bucket   *Bucket                    // nil without durability
	Service  *Service                   // nil if the stream ends with its run
	Lease    Lease                      // lease of the worker that runs the stream; nil if the stream needs none
	Standing *Standing                  // stored results of a leased stream with replayed frames; otherwise nil
	Log      *slog.Logger               // nil is silent
	Watch    func(waiting func() int64) // called with a function that returns the waiting bytes of the spool, if there is one; may be nil
}

// maxFlush is the time limit for the server to confirm the last messages, unless ctx is shorter.
const maxFlush = 3 * time.Second

// New makes the sink of a stream, which answers commands at once. decode fills the options of durability.
func New(decode func(any) error, env Env) (*Sink, error) {
	var o natsOptions
	if err := decode(&o); err != nil {
		return nil, err
	}
	if env.Bus == nil {
		return nil, errors.New("NATS is not connected: set nats.url to embedded or nats://host:port")
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

// answer begins to answer for the stream, through env.Service or else through endpoints of this sink.
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

// Commands returns the channel of arriving commands.
func (s *Sink) Commands() <-chan latent.Command { return s.responder.commands }

// Write publishes m. With durability it first appends m to the spool. It returns latent.Undelivered if the spool is full, or, without durability, if the server
// is away. It returns latent.CutShort if the message was larger than the server's limit.
func (s *Sink) Write(_ context.Context, m latent.Message) error {
	if e, ok := m.(*latent.Estimate); ok && e.Objects != nil { // reading the limit locks the connection
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

// headerRoom is the room for the headers of a stored message, which count towards its size.
const headerRoom = 1024

// write is Write without the size limit of objects.
func (s *Sink) write(m latent.Message) error {
	switch m.(type) {
	case *latent.Estimate, *latent.Law, *latent.Event, *latent.Trigger, *latent.Track, *latent.Population:
		if s.durable != nil {
			return s.keep(m)
		}
	}
	return s.encoder.Encode(m, s.publish)
}

// Relay publishes the JSON of a record from a replayed run unchanged, and only live.
func (s *Sink) Relay(kind latent.Kind, line []byte) error { return s.send(kind, line) }

// keep appends m to the spool, and publishes it live. Live subscribers may miss a message, the spool may not. If the spool refuses a message, keep publishes it
// live only once, however often Write repeats it, and without its law, which is encoded again with the accepted message. A repeated message keeps its
// identities, so a missing number in the JetStream stream means an abandoned message.
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

// identity distinguishes a repeated message from another one in the same memory.
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

// Close accepts no more commands and refuses waiting ones. It waits until the server has every message or ctx ends.
func (s *Sink) Close(ctx context.Context) error {
	stopped := s.detach()
	ctx, cancel := context.WithTimeout(ctx, maxFlush)
	defer cancel()
	if s.durable != nil {
		stopped = errors.Join(stopped, s.durable.close(ctx))
	}
	if !s.bus.Connected() {
		return stopped // without durability nothing waits for the server
	}
	return errors.Join(stopped, s.bus.NATS().FlushWithContext(ctx))
}

var errAway = errors.New("the NATS server is away: messages are lost until it is back")
