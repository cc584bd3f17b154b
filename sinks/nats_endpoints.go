package sinks

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"driftscope/internal/bus"
	"driftscope/internal/latent"
)

// endpoints take requests on <prefix>.<site>.<stream>.cmd.NAME, and answer $SRV.PING, INFO and STATS, as micro of nats.go does. No queue group
// shares the requests out: a subject belongs to one stream.
type endpoints struct {
	micro  micro.Service
	answer func(name string, payload []byte) ([]byte, error)
}

func newEndpoints(nc *nats.Conn, stream string, subject bus.Subject, answer func(name string, payload []byte) ([]byte, error)) (*endpoints, error) {
	e := &endpoints{answer: answer}
	var err error
	e.micro, err = micro.AddService(nc, micro.Config{
		Name: "driftscope", Version: fmt.Sprintf("%d.0.0", latent.Version), QueueGroupDisabled: true,
		Description: "a stream of latent coordinates and their law of motion",
		Metadata:    map[string]string{"stream": stream, "subject": subject.Of("*")},
	})
	if err != nil {
		return nil, err
	}
	for _, c := range append(answered(), latent.Applied()...) {
		err = errors.Join(err, e.add(c.Name, subject.Of("cmd."+c.Name), c.Does, e.handle(c.Name)))
	}
	err = errors.Join(err, e.add("other", subject.Of("cmd.*"), "counts and refuses commands that are not known", e.other))
	if err != nil {
		return nil, errors.Join(err, e.micro.Stop())
	}
	return e, nil
}

// answered are the commands that are answered here; they change nothing, and the runner hears nothing of them.
func answered() []struct{ Name, Does string } {
	return []struct{ Name, Does string }{
		{"info", "what runs: source, model, digests"},
		{"stats", "the last health message"},
		{"snapshot", "the last message of every kind, pictures included"},
	}
}

func (e *endpoints) add(name, subject, does string, handle micro.HandlerFunc) error {
	return e.micro.AddEndpoint(name, handle, micro.WithEndpointSubject(subject), micro.WithEndpointMetadata(map[string]string{"does": does}),
		micro.WithEndpointPendingLimits(maxRequests, maxRequestBytes))
}

// handle answers requests for one command: what was asked for, or ok, or the reason why not, as text and in micro's headers.
func (e *endpoints) handle(name string) micro.HandlerFunc {
	return func(r micro.Request) {
		body, err := e.carryOut(name, r.Data())
		if err == nil {
			err = r.Respond(body)
		}
		if err != nil {
			refuse(r, err)
		}
	}
}

// carryOut returns the answer to one request.
func (e *endpoints) carryOut(name string, payload []byte) ([]byte, error) {
	if len(payload) > maxCommand {
		return nil, latent.Refuse(latent.Malformed, "%s: %d bytes, expected at most %d: send what docs/control.md shows", name, len(payload), maxCommand)
	}
	return e.answer(name, payload)
}

// other refuses what no endpoint takes.
func (e *endpoints) other(r micro.Request) {
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

// stop takes no more requests.
func (e *endpoints) stop() error { return e.micro.Stop() }
