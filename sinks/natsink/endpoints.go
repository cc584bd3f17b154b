package natsink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// endpoints take requests on <prefix>.<site>.<stream>.cmd.NAME and answer to inboxes alone. Each command has a queue of its own, and no queue
// group shares the requests out: a subject belongs to one stream. It may be used from any goroutine.
type endpoints struct {
	nc     *nats.Conn
	log    *slog.Logger // nil is silent
	inbox  string       // what an answer's subject begins with on this connection
	answer func(name string, payload []byte) ([]byte, error)

	self    micro.Info // what $SRV.INFO answers
	started time.Time

	unwatch context.CancelFunc // ends the watching for streams over the commands
	watched chan struct{}      // closed when it has ended

	mu      sync.Mutex
	taken   []*endpoint
	verbs   []*nats.Subscription // of $SRV
	capture []string             // JetStream streams that take the commands, too
	refused uint64               // requests that wanted their answer where no inbox is
	logged  time.Time            // when that was logged last
}

// endpoint is one command's subscription and its statistics.
type endpoint struct {
	subscription *nats.Subscription
	stats        micro.EndpointStats
}

func newEndpoints(b *bus.Conn, stream string, subject bus.Subject, log *slog.Logger, answer func(name string, payload []byte) ([]byte, error)) (*endpoints, error) {
	e := &endpoints{nc: b.NATS(), log: log, inbox: inboxOf(b.NATS()), answer: answer, started: time.Now().UTC(), watched: make(chan struct{})}
	e.self = identify(stream, subject)
	ctx, unwatch := context.WithCancel(context.Background())
	e.unwatch = unwatch
	c := capture{bus: b, subject: subject, publish: func(event latent.Event) { publishEvent(b, stream, subject, log, event) }}
	go func() {
		defer close(e.watched)
		c.watch(ctx, e.captured)
	}()
	var err error
	for _, c := range append(answered(), latent.Applied()...) {
		err = errors.Join(err, e.add(c.Name, subject.Of("cmd."+c.Name), c.Does, func(m *nats.Msg) ([]byte, error) { return e.carryOut(c.Name, m.Data) }))
	}
	err = errors.Join(err, e.add(unknown, subject.Of("cmd.*"), "counts and refuses commands that are not known", refuseUnknown), e.discoverable())
	if err != nil {
		return nil, errors.Join(err, e.stop())
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

// unknown is the endpoint of what no other takes.
const unknown = "other"

// commands are the names of all that are known.
func commands() (names []string) {
	for _, c := range append(answered(), latent.Applied()...) {
		names = append(names, c.Name)
	}
	return names
}

// known says whether a subject's last token is a command that has an endpoint of its own.
func known(subject string) bool {
	return slices.Contains(commands(), subject[strings.LastIndexByte(subject, '.')+1:])
}

// refuseUnknown says what could be sent instead.
func refuseUnknown(m *nats.Msg) ([]byte, error) {
	name := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	return nil, latent.Refuse(latent.Unknown, "command %.40q is not known: send %s", name, strings.Join(commands(), ", "))
}

// add subscribes to one command's subject.
func (e *endpoints) add(name, subject, does string, handle func(*nats.Msg) ([]byte, error)) error {
	p := &endpoint{stats: micro.EndpointStats{Name: name, Subject: subject}}
	s, err := e.nc.Subscribe(subject, func(m *nats.Msg) {
		if name != unknown || !known(m.Subject) {
			e.take(p, m, handle)
		}
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p.subscription = s
	e.taken = append(e.taken, p)
	e.self.Endpoints = append(e.self.Endpoints, micro.EndpointInfo{Name: name, Subject: subject, Metadata: map[string]string{"does": does}})
	return s.SetPendingLimits(maxRequests, maxRequestBytes)
}

// take answers one request and counts it: with what was asked for, or ok, or the reason why not, as text and in micro's headers. One that
// does not say an inbox to answer to is not carried out.
func (e *endpoints) take(p *endpoint, m *nats.Msg, handle func(*nats.Msg) ([]byte, error)) {
	start := time.Now()
	body, err := []byte(nil), error(nil)
	if e.inboxed(m) {
		if body, err = handle(m); err == nil {
			err = e.respond(m.Reply, body)
		}
		if err != nil {
			e.refuse(m.Reply, err)
		}
	} else {
		err = errNoInbox
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	p.stats.NumRequests++
	p.stats.ProcessingTime += time.Since(start)
	p.stats.AverageProcessingTime = p.stats.ProcessingTime / time.Duration(p.stats.NumRequests)
	if err != nil {
		p.stats.NumErrors++
		p.stats.LastError = message.Printable(err.Error())
	}
}

// carryOut returns the answer to one request.
func (e *endpoints) carryOut(name string, payload []byte) ([]byte, error) {
	if len(payload) > maxCommand {
		return nil, latent.Refuse(latent.Malformed, "%s: %d bytes, expected at most %d: send what docs/reference/commands.md shows", name, len(payload), maxCommand)
	}
	return e.answer(name, payload)
}

// respond publishes an answer.
func (e *endpoints) respond(reply string, body []byte) error { return e.nc.Publish(reply, body) }

// refuse answers with err. An asker who is gone is no failure.
func (e *endpoints) refuse(reply string, err error) {
	code := latent.NotNow
	var refusal *latent.Refusal
	if errors.As(err, &refusal) {
		code = refusal.Code
	}
	text := cmp.Or(message.Printable(err.Error()), "refused")
	m := nats.NewMsg(reply)
	m.Header.Set(micro.ErrorHeader, text)
	m.Header.Set(micro.ErrorCodeHeader, strconv.Itoa(code))
	m.Data = []byte(text)
	e.nc.PublishMsg(m)
}

// captured notes which JetStream streams take the commands.
func (e *endpoints) captured(by []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.capture = by
}

// irregular is what info says of requests that were refused for their reply subject, and of streams over the commands.
func (e *endpoints) irregular() (refused uint64, capturedBy []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refused, e.capture
}

// stop takes no more requests; those that wait are answered.
func (e *endpoints) stop() error {
	e.unwatch()
	<-e.watched
	e.mu.Lock()
	subscriptions := e.verbs
	for _, p := range e.taken {
		subscriptions = append(subscriptions, p.subscription)
	}
	e.taken, e.verbs = nil, nil
	e.mu.Unlock()
	var err error
	for _, s := range subscriptions {
		if drained := s.Drain(); drained != nil && !errors.Is(drained, nats.ErrConnectionClosed) {
			err = errors.Join(err, fmt.Errorf("%s: %w", s.Subject, drained))
		}
	}
	return err
}
