package sinks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"driftscope/internal/bus"
	"driftscope/internal/latent"
)

// Bounds on what is asked; requests beyond the last two are dropped by the client library, and time out at the one who asks.
const (
	maxCommand      = 4 << 10 // bytes of a payload
	maxRequests     = 64
	maxRequestBytes = 64 << 10
)

// About is what runs, as the command info tells it.
type About struct {
	Source       string    `json:"source"`
	Model        string    `json:"model"`
	ModelSHA256  string    `json:"model_sha256"`
	ConfigSHA256 string    `json:"config_sha256"` // of what decides the results: equal where the same would come out
	Latents      int       `json:"latents"`       // dimensions
	Seed         uint64    `json:"seed"`          // of the estimator
	Started      time.Time `json:"started"`
	Triggers     []string  `json:"triggers,omitempty"` // names of the rules, in the configuration's order
}

// service answers on <prefix>.<site>.<stream>.cmd.NAME, and to $SRV.PING, INFO and STATS, as micro of nats.go does. No queue group
// shares the requests out: a subject belongs to one stream. What has to be applied goes on to the runner.
type service struct {
	stream   string
	about    func() About
	records  *records
	durable  *durable // nil where nothing is kept
	commands chan latent.Command
	ended    chan struct{}
	micro    micro.Service
}

func newService(nc *nats.Conn, subject bus.Subject, env Env, r *records, d *durable) (*service, error) {
	s := &service{
		stream: env.Stream, about: env.About, records: r, durable: d,
		commands: make(chan latent.Command), ended: make(chan struct{}),
	}
	if s.about == nil {
		s.about = func() About { return About{} }
	}
	var err error
	s.micro, err = micro.AddService(nc, micro.Config{
		Name: "driftscope", Version: fmt.Sprintf("%d.0.0", latent.Version), QueueGroupDisabled: true,
		Description: "a stream of latent coordinates and their law of motion",
		Metadata:    map[string]string{"stream": env.Stream, "subject": subject.Of("*")},
	})
	if err != nil {
		return nil, err
	}
	for _, c := range append(answered(), latent.Applied()...) {
		err = errors.Join(err, s.add(c.Name, subject.Of("cmd."+c.Name), c.Does, s.handle(c.Name)))
	}
	err = errors.Join(err, s.add("other", subject.Of("cmd.*"), "counts and refuses commands that are not known", s.other))
	return s, err
}

// answered are the commands that are answered here; they change nothing, and the runner hears nothing of them.
func answered() []struct{ Name, Does string } {
	return []struct{ Name, Does string }{
		{"info", "what runs: source, model, digests"},
		{"stats", "the last health message"},
		{"snapshot", "the last message of every kind, pictures included"},
	}
}

func (s *service) add(name, subject, does string, handle micro.HandlerFunc) error {
	return s.micro.AddEndpoint(name, handle, micro.WithEndpointSubject(subject), micro.WithEndpointMetadata(map[string]string{"does": does}),
		micro.WithEndpointPendingLimits(maxRequests, maxRequestBytes))
}

// handle answers requests for one command: what was asked for, or ok, or the reason why not, as text and in micro's headers.
func (s *service) handle(name string) micro.HandlerFunc {
	return func(r micro.Request) {
		body, err := s.carryOut(name, r.Data())
		if err == nil {
			err = r.Respond(body)
		}
		if err != nil {
			refuse(r, err)
		}
	}
}

// other refuses what no endpoint takes.
func (s *service) other(r micro.Request) {
	name := r.Subject()[strings.LastIndexByte(r.Subject(), '.')+1:]
	var known []string
	for _, c := range append(answered(), latent.Applied()...) {
		if c.Name == name {
			return
		}
		known = append(known, c.Name)
	}
	refuse(r, latent.Refuse(latent.Unknown, "command %.40q is not known: send %s", name, strings.Join(known, ", ")))
}

// refuse answers with err. An asker who is gone is no failure.
func refuse(r micro.Request, err error) {
	code := latent.NotNow
	var refusal *latent.Refusal
	if errors.As(err, &refusal) {
		code = refusal.Code
	}
	text := cmp.Or(Printable(err.Error()), "refused")
	r.Error(strconv.Itoa(code), text, []byte(text))
}

// carryOut returns the answer to one request.
func (s *service) carryOut(name string, payload []byte) ([]byte, error) {
	if len(payload) > maxCommand {
		return nil, latent.Refuse(latent.Malformed, "%s: %d bytes, expected at most %d: send what docs/control.md shows", name, len(payload), maxCommand)
	}
	switch name {
	case "info":
		return s.info()
	case "stats":
		if health := s.records.last(latent.KindHealth); health != nil {
			return health, nil
		}
		return nil, latent.Refuse(latent.NotNow, "stats: the stream has only begun: try again in a second")
	case "snapshot":
		return s.records.snapshot(s.stream)
	}
	return s.apply(latent.Command{Name: name, Payload: payload})
}

// InfoRecord answers the command info.
type InfoRecord struct {
	Header
	About
	Kept *Kept `json:"kept,omitempty"` // where nats.durable is on
}

// info says what runs.
func (s *service) info() ([]byte, error) {
	r := InfoRecord{Header: Header{latent.Version, "info", s.stream}, About: s.about()}
	if s.durable != nil {
		kept := s.durable.kept()
		r.Kept = &kept
	}
	return json.Marshal(r)
}

// apply hands c to the runner and waits for what becomes of it.
func (s *service) apply(c latent.Command) ([]byte, error) {
	answer := make(chan error, 1)
	c.Reply = func(err error) { answer <- err }
	ending := latent.Refuse(latent.NotNow, "the run is ending: the command was not applied: start the stream again")
	select {
	case s.commands <- c:
	case <-s.ended:
		return nil, ending
	}
	select {
	case err := <-answer:
		return []byte("ok"), err
	case <-s.ended:
	}
	select {
	case err := <-answer:
		return []byte("ok"), err
	default:
		return nil, ending
	}
}

// stop takes no more requests and refuses those that wait.
func (s *service) stop() error {
	close(s.ended)
	return s.micro.Stop()
}
