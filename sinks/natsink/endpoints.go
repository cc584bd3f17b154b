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

// endpoints receives requests on <prefix>.<site>.<stream>.cmd.NAME and answers only to inboxes. Each command has its own queue. There are no NATS queue groups,
// because a subject belongs to only one stream. It may be used from any goroutine.
type endpoints struct {
	nc     *nats.Conn
	log    *slog.Logger // nil is silent
	inbox  string       // prefix of the inboxes of this connection
	answer func(name string, payload []byte) ([]byte, error)

	self    micro.Info // answer to $SRV.INFO
	started time.Time

	unwatch context.CancelFunc // ends the search for streams that cover the commands
	watched chan struct{}      // closed when the search has ended

	mu      sync.Mutex
	taken   []*endpoint
	verbs   []*nats.Subscription // subscriptions to $SRV
	capture []string             // JetStream streams that cover the commands
	refused uint64               // number of requests whose reply subject is not an inbox
	logged  time.Time            // time of the last log entry about refused requests
}

// endpoint holds one command's subscription and its statistics.
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

// answered lists the commands that need no runner because they change nothing.
func answered() []struct{ Name, Does string } {
	return []struct{ Name, Does string }{
		{"info", "what runs: source, model, digests"},
		{"stats", "the last health message"},
		{"snapshot", "the last message of every kind, pictures included"},
	}
}

// unknown handles requests that match no other endpoint.
const unknown = "other"

// commands returns the names of all known commands.
func commands() (names []string) {
	for _, c := range append(answered(), latent.Applied()...) {
		names = append(names, c.Name)
	}
	return names
}

// known reports whether a subject's last token is a command with its own endpoint.
func known(subject string) bool {
	return slices.Contains(commands(), subject[strings.LastIndexByte(subject, '.')+1:])
}

// refuseUnknown returns an error that lists the known commands.
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

// take counts one request and answers it with the result of handle, or ok. If handle fails, the answer is the error, as text and in micro's headers. A request
// whose reply subject is not an inbox is not executed.
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

// carryOut executes one request and returns the answer.
func (e *endpoints) carryOut(name string, payload []byte) ([]byte, error) {
	if len(payload) > maxCommand {
		return nil, latent.Refuse(latent.Malformed, "%s: found %d bytes, expected at most %d: send a payload as in docs/reference/commands.md", name, len(payload), maxCommand)
	}
	return e.answer(name, payload)
}

// respond publishes an answer.
func (e *endpoints) respond(reply string, body []byte) error { return e.nc.Publish(reply, body) }

// refuse answers with err. It ignores clients that have gone.
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

// captured records the JetStream streams that cover the commands.
func (e *endpoints) captured(by []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.capture = by
}

// irregular returns the number of requests refused for their reply subject, and the streams that cover the commands, for the command info.
func (e *endpoints) irregular() (refused uint64, capturedBy []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.refused, e.capture
}

// stop accepts no more requests, and answers the waiting ones.
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
