package natsink

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

const (
	captureEvery = 10 * time.Second // interval of the search for streams that cover the commands
	maxCaptures  = 8                // largest number of listed names
)

// capture detects JetStream streams that cover the command subjects. Such a stream confirms every request, and a client that does not read the answer mistakes
// the confirmation for the program's answer.
type capture struct {
	bus     *bus.Conn
	subject bus.Subject
	publish func(latent.Event)
	by      []string // streams found by the last search
}

// watch searches now and every ten seconds until ctx ends.
func (c *capture) watch(ctx context.Context, found func(by []string)) {
	tick := time.NewTicker(captureEvery)
	defer tick.Stop()
	for {
		if by, err := c.look(ctx); err == nil && !slices.Equal(by, c.by) {
			c.by = by
			found(by)
			c.publish(c.event())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// look returns the streams that cover the command subjects. A server without JetStream has none.
func (c *capture) look(ctx context.Context) (by []string, err error) {
	if !c.bus.Connected() {
		return nil, ErrServerAway
	}
	js, err := jetstream.New(c.bus.NATS())
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(ctx, askWait)
	defer done()
	names := js.StreamNames(ctx, jetstream.WithStreamListSubject(c.subject.Of("cmd.>")))
	for name := range names.Name() {
		if len(by) < maxCaptures {
			by = append(by, message.Printable(name))
		}
	}
	slices.Sort(by)
	if err := names.Err(); err != nil && !errors.Is(err, nats.ErrNoResponders) && !errors.Is(err, jetstream.ErrJetStreamNotEnabled) {
		return nil, err
	}
	return by, nil
}

// event returns the event that reports these streams.
func (c *capture) event() latent.Event {
	e := latent.Event{Time: time.Now(), Level: latent.Info, Code: "commands_captured", Count: 1, Text: "over: no JetStream stream covers the commands"}
	if len(c.by) > 0 {
		e.Level = latent.Warning
		e.Text = "the JetStream stream " + strings.Join(c.by, ", ") + " takes " + c.subject.Of("cmd.>") +
			" as well, and confirms commands instead of the program: only an answer without a stream's name comes from the program; delete that stream"
	}
	return e
}

// publishEvent logs an event and publishes it live. It is for events outside a runner.
func publishEvent(b *bus.Conn, stream string, subject bus.Subject, log *slog.Logger, event latent.Event) {
	if log != nil {
		log.Warn(event.Text, "stream", stream, "code", event.Code)
	}
	e := message.Encoder{Stream: stream}
	e.Encode(&event, func(_ latent.Kind, line []byte) error {
		if !b.Connected() {
			return nil
		}
		return b.NATS().Publish(subject.Of(string(latent.KindEvent)), line)
	})
}
