package pool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/online/combine"
	"driftscope/sinks/message"
)

// everyone is the argument that selects all streams of the site.
const everyone = "*"

// waiting is the largest number of messages that wait while a law is computed. Further messages are lost; the next record replaces them.
const waiting = 64

// Command pools the laws of several streams.
type Command struct {
	Name    string   `required:"" help:"Name of the experiment: the stream that publishes the combined law." placeholder:"EXPERIMENT"`
	Streams []string `arg:"" help:"Streams of the cameras, at least two, or '*' for all of the site." placeholder:"STREAM"`
	NATS    string   `name:"nats" default:"nats://127.0.0.1:4222" help:"NATS server of the streams, or context:NAME." placeholder:"URL"`
	Creds   string   `help:"Credentials for that server, with the rights to read the streams' population and to publish the experiment's population, health and events." placeholder:"FILE.creds"`
	CA      string   `name:"ca" help:"Certificate authority of the server." placeholder:"FILE.pem"`
	Prefix  string   `default:"driftscope" help:"First token of the NATS subjects."`
	Site    string   `default:"local" help:"Second token of the NATS subjects."`
	Stale   float64  `default:"60" help:"Seconds of silence after which a stream is left out until its next message."`
	JSON    bool     `name:"json" help:"Print each published record as one JSON object per line, instead of text."`
}

// check refuses contradictory options.
func (c *Command) check() error {
	if c.NATS == bus.Embedded {
		return errors.New("--nats: embedded is the server inside a run: give its address, nats://127.0.0.1:4222 unless the run printed another")
	}
	if !(c.Stale >= 1 && c.Stale <= math.MaxInt32) {
		return fmt.Errorf("--stale: found %g, expected a number of seconds, 1 or more", c.Stale)
	}
	if _, err := bus.NewSubject(c.Prefix, c.Site, c.Name); err != nil {
		return fmt.Errorf("--name, --prefix or --site: %w", err)
	}
	if slices.Equal(c.Streams, []string{everyone}) {
		return nil
	}
	named := map[string]bool{}
	for _, stream := range c.Streams {
		if stream == everyone {
			return errors.New("found * beside other streams, expected it alone: it means every stream of the site")
		}
		if _, err := bus.NewSubject(c.Prefix, c.Site, stream); err != nil {
			return err
		}
		if stream == c.Name {
			return fmt.Errorf("%s is the experiment and one of its streams: give --name another name", stream)
		}
		if named[stream] {
			return fmt.Errorf("stream %s is given twice: its objects would count twice", stream)
		}
		named[stream] = true
	}
	if n := len(c.Streams); n < 2 || n > combine.MostCameras {
		return fmt.Errorf("found %d stream, expected 2 to %d, or '*' for all of the site", n, combine.MostCameras)
	}
	return nil
}

// Run pools laws until ctx ends.
func (c *Command) Run(ctx context.Context) error { return c.run(ctx, os.Stdout, os.Stderr) }

// run pools laws. It prints them on out, and problems on notes.
func (c *Command) run(ctx context.Context, out, notes io.Writer) error {
	if err := c.check(); err != nil {
		return console.Usage(err)
	}
	conn, err := bus.Connect(ctx, bus.Options{URL: c.NATS, Credentials: c.Creds, CA: c.CA, Name: "driftscope pool", Prefix: c.Prefix, Site: c.Site,
		Log: slog.New(slog.NewTextHandler(notes, nil))})
	switch {
	case err != nil && ctx.Err() != nil:
		return nil
	case errors.Is(err, bus.ErrNoServer):
		return fmt.Errorf("%s: %w: start driftscope run in another terminal, or give --nats with the address it prints", bus.Redacted(c.NATS), bus.ErrNoServer)
	case err != nil:
		return err
	}
	subject, _ := bus.NewSubject(c.Prefix, c.Site, c.Name) // was checked
	now := time.Now()
	p := &pooling{members: newMembers(c, notes), subject: subject, name: c.Name, json: c.JSON, out: out, conn: conn, messages: make(chan *nats.Msg, waiting), started: now, rated: now}
	for _, stream := range c.Streams {
		subject := c.subject(stream)
		s, err := conn.NATS().ChanSubscribe(subject, p.messages)
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", subject, err), conn.Close())
		}
		p.subscriptions = append(p.subscriptions, s)
	}
	err = p.loop(ctx)
	return errors.Join(err, p.end(err), conn.Close())
}

// subject returns the subject of a stream's population, or of all streams' populations.
func (c *Command) subject(stream string) string {
	prefix, _ := bus.NewSubject(c.Prefix, c.Site, "any") // was checked
	if stream == everyone {
		return everyoneOf(prefix)
	}
	s, _ := bus.NewSubject(c.Prefix, c.Site, stream)
	return s.Of(string(latent.KindPopulation))
}

// pooling is the state of a running command.
type pooling struct {
	members       *members
	subject       bus.Subject
	name          string
	json          bool
	out           io.Writer
	conn          *bus.Conn
	messages      chan *nats.Msg
	subscriptions []*nats.Subscription // subscriptions that fill the queue
	seq, law      uint64               // records and laws that were published
	published     uint64               // messages
	lost          bool                 // the last message did not reach the server

	started, rated time.Time // start time, and time of the last calculation of the record rate
	before         uint64    // number of records at rated
}

// loop receives records. Once a second it publishes the law if it changed, events about streams left out, and health.
func (p *pooling) loop(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-p.messages:
			p.members.take(m.Subject, m.Data, time.Now())
		case <-tick.C:
			now := time.Now() // not the tick's time, which may precede the last record
			p.members.expire(now)
			events := p.members.tell(now)
			if err := p.publish(); err != nil {
				return err
			}
			for _, e := range events {
				if err := p.send(latent.KindEvent, p.event(e)); err != nil {
					return err
				}
			}
			if err := p.send(latent.KindHealth, p.health(now)); err != nil {
				return err
			}
		}
	}
}

// publish publishes the law of the included members, if anything has changed.
func (p *pooling) publish() error {
	fresh, law := p.members.fresh()
	in := p.members.in()
	if !fresh || len(in) == 0 {
		return nil
	}
	r := recordOf(p.name, in)
	if len(r.Law.D) > message.MaxLatent {
		p.members.note("law", "%d states of %d streams, expected at most %d: are these cameras of one experiment?", len(r.Law.D), len(in), message.MaxLatent)
		return nil
	}
	p.seq++
	if law {
		p.law++
	}
	r.Seq, r.Law.Seq = p.seq, p.law
	if err := p.send(latent.KindPopulation, r); err != nil {
		return err
	}
	switch {
	case p.json:
		return json.NewEncoder(p.out).Encode(r)
	case law:
		_, err := fmt.Fprintf(p.out, "%s law %d: %s\n", p.name, p.law, r.Law.Says)
		return err
	}
	return nil
}

// send publishes a record. While the server is unreachable, records are lost, which send reports once. The connection reconnects by itself.
func (p *pooling) send(kind latent.Kind, r message.Record) error {
	subject := p.subject.Of(string(kind))
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	err = nats.ErrDisconnected
	if p.conn.Connected() {
		err = p.conn.NATS().Publish(subject, line)
	}
	if errors.Is(err, nats.ErrMaxPayload) {
		return fmt.Errorf("%s: a message has %d bytes, but the server accepts %d: raise its max_payload", subject, len(line), p.conn.NATS().MaxPayload())
	}
	if err != nil && !p.lost {
		p.members.say("%s: not published (%v): messages are lost until the server is back", subject, err)
	}
	if p.lost = err != nil; !p.lost {
		p.published++
	}
	return nil
}
