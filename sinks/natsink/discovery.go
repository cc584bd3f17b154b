package natsink

import (
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
)

// serviceName is the name of every stream in micro.
const serviceName = "driftscope"

// identify returns a stream's identity as a service, without its endpoints.
func identify(stream string, subject bus.Subject) micro.Info {
	return micro.Info{
		ServiceIdentity: micro.ServiceIdentity{
			Name: serviceName, ID: rand.Text(), Version: fmt.Sprintf("%d.0.0", latent.Version),
			Metadata: map[string]string{"stream": stream, "subject": subject.Of("*")},
		},
		Type: micro.InfoResponseType, Description: "latent coordinates and their law of motion",
	}
}

// discoverable answers $SRV.PING, INFO and STATS in the form of nats.go's micro. It does not use micro itself, because micro would answer on any subject named
// in a request.
func (e *endpoints) discoverable() error {
	for verb, answer := range map[micro.Verb]func() any{
		micro.PingVerb:  func() any { return micro.Ping{ServiceIdentity: e.self.ServiceIdentity, Type: micro.PingResponseType} },
		micro.InfoVerb:  func() any { return e.self },
		micro.StatsVerb: func() any { return e.stats() },
	} {
		for _, of := range [][2]string{{}, {serviceName}, {serviceName, e.self.ID}} {
			subject, err := micro.ControlSubject(verb, of[0], of[1])
			if err != nil {
				return err
			}
			s, err := e.nc.Subscribe(subject, func(m *nats.Msg) {
				if !e.inboxed(m) {
					return
				}
				if body, err := json.Marshal(answer()); err == nil {
					e.respond(m.Reply, body)
				}
			})
			if err != nil {
				return err
			}
			if err := s.SetPendingLimits(maxRequests, maxRequestBytes); err != nil {
				return err
			}
			e.mu.Lock()
			e.verbs = append(e.verbs, s)
			e.mu.Unlock()
		}
	}
	return nil
}

// stats returns the endpoints' statistics. A request dropped by a full queue counts as refused.
func (e *endpoints) stats() micro.Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := micro.Stats{ServiceIdentity: e.self.ServiceIdentity, Type: micro.StatsResponseType, Started: e.started, Endpoints: []*micro.EndpointStats{}}
	for _, p := range e.taken {
		counted := p.stats
		if dropped, err := p.subscription.Dropped(); err == nil && dropped > 0 {
			counted.NumRequests += dropped
			counted.NumErrors += dropped
			counted.LastError = nats.ErrSlowConsumer.Error()
		}
		s.Endpoints = append(s.Endpoints, &counted)
	}
	return s
}
