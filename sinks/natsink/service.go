package natsink

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// stoppedEvery is the interval between health messages of a stopped stream.
const stoppedEvery = time.Second

// Service answers requests for one stream during the life of its process. While the stream runs, its NATS sink (made with this Service in its Env) answers.
// While it is stopped, the Service answers info, stats and snapshot, and accepts the command start. It may be used from any goroutine.
type Service struct {
	stream  string
	bus     *bus.Conn
	subject bus.Subject
	starts  chan latent.Command
	closed  chan struct{}

	mu        sync.Mutex
	endpoints *endpoints // nil before the first run
	run       *responder // the last run; nil before the first
	stopped   bool
	health    []byte // health of the stopped stream, as JSON; nil until known
}

// NewService returns a Service that answers for the stream from its first run until Close.
func NewService(b *bus.Conn, stream string) (*Service, error) {
	subject, err := b.Subject(stream)
	if err != nil {
		return nil, err
	}
	return &Service{stream: stream, bus: b, subject: subject, starts: make(chan latent.Command), closed: make(chan struct{})}, nil
}

// attach lets a run answer the requests. Before the first run nothing answers: a client that sees a stopped stream might start it.
func (s *Service) attach(run *responder) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.stopped, s.health = run, false, nil
	if s.endpoints == nil {
		s.endpoints, err = newEndpoints(s.bus, s.stream, s.subject, run.log, s.carryOut)
	}
	run.endpoints.Store(s.endpoints)
	return err
}

// detach makes the Service answer after a run has ended, unless another run has begun since.
func (s *Service) detach(run *responder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run == run {
		s.stopped, s.health = true, run.latest.last(latent.KindHealth)
	}
}

// now returns the last run, whether it has ended, and if so its health.
func (s *Service) now() (run *responder, stopped bool, health []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run, s.stopped, s.health
}

// carryOut returns the answer to one request.
func (s *Service) carryOut(name string, payload []byte) ([]byte, error) {
	run, stopped, health := s.now()
	if !stopped {
		body, err := run.carryOut(name, payload)
		var refusal *latent.Refusal
		if ending := errors.As(err, &refusal) && refusal.Code == latent.NotNow; name != "start" || !ending {
			return body, err
		}
	}
	switch {
	case name == "start":
		return s.start(payload)
	case name == "info", name == "snapshot":
		return run.carryOut(name, nil)
	case name == "stats" && health != nil:
		return health, nil
	}
	return nil, latent.Refuse(latent.Conflict, "%s: the stream is stopped: send start", name)
}

// start passes the command to Wait, which accepts it once the last run has ended, and waits for the result.
func (s *Service) start(payload []byte) ([]byte, error) {
	answer := make(chan error, 1)
	ending := latent.Refuse(latent.NotNow, "start: the process is ending: run it again")
	select {
	case s.starts <- latent.Command{Name: "start", Payload: bytes.Clone(payload), Reply: func(err error) { answer <- err }}:
	case <-s.closed:
		return nil, ending
	}
	select {
	case err := <-answer:
		return []byte("ok"), err
	case <-s.closed:
		return nil, ending
	}
}

// Start is the command start, decoded.
type Start struct {
	Config bool        `json:"config"` // take the configuration from KV
	Reply  func(error) `json:"-"`      // must be called once, with the result
}

// Wait returns the next command start. Until then it reports that the stream is stopped, once a second on the health subject and to stats requests. last is the
// health at the end of the stream. ok is false once ctx has ended.
func (s *Service) Wait(ctx context.Context, last latent.Health) (start Start, ok bool) {
	tick := time.NewTicker(stoppedEvery)
	defer tick.Stop()
	for {
		s.publish(last)
		select {
		case c := <-s.starts:
			start, err := decodeStart(c)
			if err == nil {
				return start, true
			}
			c.Reply(err)
		case <-tick.C:
		case <-ctx.Done():
			return Start{}, false
		}
	}
}

// publish publishes the health of a stopped stream, unless the server is away.
func (s *Service) publish(last latent.Health) {
	last.Time, last.State, last.FPS, last.Queue = time.Now(), "stopped", 0, 0
	e := message.Encoder{Stream: s.stream}
	e.Encode(&last, func(_ latent.Kind, line []byte) error {
		line = bytes.Clone(line)
		s.mu.Lock()
		s.stopped, s.health = true, line // also after a run that never called detach
		s.mu.Unlock()
		if s.bus.Connected() {
			return s.bus.NATS().Publish(s.subject.Of(string(latent.KindHealth)), line)
		}
		return nil
	})
}

// decodeStart reads a command's payload.
func decodeStart(c latent.Command) (Start, error) {
	start := Start{Reply: c.Reply}
	if len(bytes.TrimSpace(c.Payload)) == 0 {
		return start, nil
	}
	if err := latent.DecodePayload(c.Payload, &start); err != nil {
		return start, latent.Refuse(latent.Malformed, `start: found %.80q: send nothing, or {"config": true} to take the configuration from KV`, c.Payload)
	}
	return start, nil
}

// Close refuses waiting requests and accepts no more. s may be nil.
func (s *Service) Close() error {
	if s == nil {
		return nil
	}
	close(s.closed)
	s.mu.Lock()
	e := s.endpoints
	s.mu.Unlock()
	if e == nil {
		return nil
	}
	return e.stop()
}
