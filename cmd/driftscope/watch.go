package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/internal/kit/console"
	"driftscope/sinks/message"
	"driftscope/sinks/natsink"
)

const (
	watchConnect = 2 * time.Second // wait for the server's answer
	watchSilence = 5 * time.Second // silence before watch reports it
	watchStreams = 1024            // bound on remembered subjects, and on workers
	watchMissed  = 3 * time.Second // silence of a worker before it is reported: three missing messages
)

// watchCmd prints the messages of streams, from any terminal that reaches the server.
type watchCmd struct {
	NATS   string  `name:"nats" default:"nats://127.0.0.1:4222" help:"NATS server of the run, or context:NAME." placeholder:"URL"`
	Creds  string  `help:"Credentials for that server." placeholder:"FILE.creds"`
	CA     string  `name:"ca" help:"Certificate authority of the server." placeholder:"FILE.pem"`
	Prefix string  `default:"driftscope" help:"First token of the NATS subjects."`
	Stream string  `default:">" help:"Name of the stream; > for all."`
	JSON   bool    `name:"json" help:"Print one JSON object per line, without pictures."`
	Rate   float64 `default:"10" help:"Largest number of frames per second to print for each stream; 0 prints all."`
}

// Run prints messages until ctx ends.
func (c *watchCmd) Run(ctx context.Context) error {
	err := c.watch(ctx, os.Stdout, os.Stderr)
	if err == nil {
		console.Say("stopped")
	}
	return err
}

// watch subscribes and prints messages on out and problems on notes.
func (c *watchCmd) watch(ctx context.Context, out, notes io.Writer) error {
	subject, err := c.subject()
	if err != nil {
		return console.Usage(err)
	}
	if c.Rate < 0 || math.IsNaN(c.Rate) {
		return console.Usage(fmt.Errorf("--rate: found %g, expected 0 (every frame) or a positive number of frames per second", c.Rate))
	}
	if c.NATS == bus.Embedded {
		return console.Usage(errors.New("--nats: embedded is the server inside a run: give its address, nats://127.0.0.1:4222 unless the run printed another"))
	}
	conn, err := c.connect(ctx)
	if err != nil || conn == nil {
		return err
	}
	defer conn.Close()
	subscription, err := conn.NATS().SubscribeSync(subject)
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	w := &watcher{out: out, notes: notes, rate: c.Rate, json: c.JSON, printed: map[string]time.Time{}, workers: workers{}}
	for ctx.Err() == nil {
		m, err := nextMessage(ctx, subscription)
		switch {
		case err == nil:
			err = w.message(m.Subject, m.Data)
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, context.DeadlineExceeded):
			err = w.silence(conn, subject)
		case errors.Is(err, nats.ErrSlowConsumer):
			_, err = fmt.Fprintln(notes, "messages come faster than they can be printed: some were skipped")
		}
		if err == nil {
			err = w.silent(time.Now())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// subject returns the subject to subscribe to.
func (c *watchCmd) subject() (string, error) {
	stream := c.Stream
	if stream == ">" || stream == "*" {
		stream = "any"
	}
	if _, err := bus.NewSubject(c.Prefix, "", stream); err != nil {
		return "", err
	}
	if stream != c.Stream {
		stream = "*"
	}
	return c.Prefix + ".*." + stream + ".*", nil
}

// connect connects, or reports within watchConnect that there is no server. It returns nil if ctx ends first.
func (c *watchCmd) connect(ctx context.Context) (*bus.Conn, error) {
	dial, cancel := context.WithTimeout(ctx, watchConnect)
	defer cancel()
	conn, err := bus.Connect(dial, bus.Options{URL: c.NATS, Credentials: c.Creds, CA: c.CA, Name: "driftscope watch", Log: bus.Warnings()})
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, nil
	case errors.Is(err, bus.ErrNoServer):
		return nil, fmt.Errorf("%s: %w: start driftscope run in another terminal, or give --nats with the address it prints", bus.Redacted(c.NATS), bus.ErrNoServer)
	}
	return nil, err
}

// nextMessage waits for a message for at most watchSilence.
func nextMessage(ctx context.Context, s *nats.Subscription) (*nats.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, watchSilence)
	defer cancel()
	return s.NextMsgWithContext(ctx)
}

// watcher prints messages and limits the rate of latents.
type watcher struct {
	out, notes io.Writer
	rate       float64              // printed latents per second and stream; 0 prints all
	json       bool                 // print messages unchanged
	printed    map[string]time.Time // time of the last message of each rate-limited subject
	newest     message.Newest
	workers    workers
	line       bytes.Buffer
}

// silence explains why nothing is printed.
func (w *watcher) silence(conn *bus.Conn, subject string) error {
	why := "connected, but nothing is published under " + subject + ": is the stream running?"
	if !conn.Connected() {
		why = "cannot reach the server: waiting for a connection"
	}
	_, err := fmt.Fprintf(w.notes, "%s: %s\n", conn.URL(), why)
	return err
}

// message prints one message. It reports and skips an unreadable one, because any client can publish.
func (w *watcher) message(subject string, data []byte) error {
	kind := latent.Kind(subject[strings.LastIndexByte(subject, '.')+1:])
	if kind == latent.KindView || kind == natsink.SampledToken || frequent(kind) && !w.due(subject, w.rate) {
		return nil
	}
	r, err := message.Decode(kind, data)
	if err != nil {
		if w.due("not readable", 1) {
			_, err = fmt.Fprintf(w.notes, "%s: left out: %s\n", message.Printable(subject), message.Printable(err.Error()))
			return err
		}
		return nil
	}
	of, now := subject[:strings.LastIndexByte(subject, '.')], time.Now()
	if newest, fine := w.newest.Counts(of, message.EpochOf(r), now); !fine {
		delete(w.printed, subject) // this message does not count towards the rate limit
		if w.due("late "+of, 1./60) {
			_, err = fmt.Fprintf(w.notes, "%s: left out: its epoch is %d, but the stream's worker has epoch %d\n", message.Printable(subject), message.EpochOf(r), newest)
		}
		return err
	}
	w.line.Reset()
	if told, of := r.(*message.WorkerRecord); w.json {
		err = json.Compact(&w.line, data)
	} else if of {
		w.workers.print(&w.line, subject, told, now)
	} else {
		printRecord(&w.line, r)
	}
	if err != nil || w.line.Len() == 0 {
		return err
	}
	w.line.WriteByte('\n')
	_, err = w.line.WriteTo(w.out)
	return err
}

// due reports whether a message limited to rate per second may be printed now.
func (w *watcher) due(what string, rate float64) bool {
	now := time.Now()
	if last, seen := w.printed[what]; rate > 0 && seen && now.Sub(last).Seconds() < 1/rate {
		return false
	}
	if len(w.printed) >= watchStreams {
		clear(w.printed)
	}
	w.printed[what] = now
	return true
}

// frequent reports whether messages of a kind come with every frame.
func frequent(kind latent.Kind) bool {
	return kind == latent.KindLatent || kind == latent.KindObjects || kind == latent.KindTrack
}

// mostObjects is the largest number of objects per frame that watch lists.
const mostObjects = 4

// printObjects writes the objects of a frame.
func printObjects(line *bytes.Buffer, r *message.ObjectsRecord) {
	fmt.Fprintf(line, "%s #%d %s  objects %d", message.Printable(r.Stream), r.Seq, r.Time.UTC().Format("15:04:05.000"), len(r.ID))
	for i, id := range r.ID {
		if i == mostObjects {
			fmt.Fprintf(line, "  and %d more", len(r.ID)-i)
			break
		}
		fmt.Fprintf(line, "  %d at %.1f, %.1f", id, r.X[i], r.Y[i])
	}
	fmt.Fprintf(line, "  %.2f ms", r.LatencyMS)
}

// printRecord writes a record as text. Health is for programs and leaves the line empty.
func printRecord(line *bytes.Buffer, r message.Record) {
	switch r := r.(type) {
	case *message.LatentRecord:
		fmt.Fprintf(line, "%s #%d %s  z", message.Printable(r.Stream), r.Seq, r.Time.UTC().Format("15:04:05.000"))
		for i, z := range r.Z {
			fmt.Fprintf(line, " %.4g", z)
			if i < len(r.SD) {
				fmt.Fprintf(line, "±%.2g", r.SD[i])
			}
		}
		fmt.Fprintf(line, "  drift %.3g  %.2f ms", []float64(r.Drift), r.LatencyMS)
		if r.Dropped > 0 {
			fmt.Fprintf(line, "  %d dropped before", r.Dropped)
		}
	case *message.ObjectsRecord:
		printObjects(line, r)
	case *message.TrackRecord:
		fmt.Fprintf(line, "%s #%d object %d %s", message.Printable(r.Stream), r.Seq, r.ID, message.Printable(string(r.Change)))
		if r.Why != "" {
			fmt.Fprintf(line, ", %s, after %d frames", message.Printable(r.Why), r.Frames)
		}
	case *message.PopulationRecord:
		fmt.Fprintf(line, "%s #%d population %d  born %d  ended %d  D %.3g [%.3g, %.3g] px²/s", message.Printable(r.Stream), r.Seq, r.Count, r.Births, r.Deaths,
			float64(r.Px), float64(r.PxLow), float64(r.PxHigh))
	case *message.TriggerRecord:
		turns := map[bool]string{true: "begins", false: "ends"}[r.On]
		fmt.Fprintf(line, "%s #%d trigger %s %s: %s  %.4g of %.4g %s  %.2f ms", message.Printable(r.Stream), r.Seq, message.Printable(r.Name), turns,
			message.Printable(r.Rule), float64(r.Value), float64(r.Threshold), message.Printable(r.Unit), r.LatencyMS)
	case *message.SDERecord:
		fmt.Fprintf(line, "%s law %d  σ", message.Printable(r.Stream), r.Revision)
		for i, sigma := range r.Sigma {
			fmt.Fprintf(line, " %.4g", sigma)
			if i < len(r.SigmaLow) && i < len(r.SigmaHigh) {
				fmt.Fprintf(line, " [%.3g, %.3g]", r.SigmaLow[i], r.SigmaHigh[i])
			}
		}
		fmt.Fprintf(line, "  active %d of %d  drift bound (CRLB) %.3g  observed %.4g s", r.ActiveCount, len(r.Sigma), r.CRLB, r.Seconds)
	case *message.EventRecord:
		fmt.Fprintf(line, "%s %s %s: %s", message.Printable(r.Stream), message.Printable(string(r.Level)), message.Printable(r.Code), message.Printable(r.Text))
		if r.Count > 1 {
			fmt.Fprintf(line, " (%d times)", r.Count)
		}
	}
}

// workers maps a subject to the state that was last printed for its worker.
type workers map[string]*heardWorker

type heardWorker struct {
	name   string
	text   string
	heard  time.Time
	silent bool
}

// print writes a worker's message if it differs from the previous one.
func (k workers) print(line *bytes.Buffer, subject string, r *message.WorkerRecord, now time.Time) {
	before := k[subject]
	if before == nil {
		if len(k) >= watchStreams {
			clear(k)
		}
		before = &heardWorker{name: message.Printable(r.Stream)}
		k[subject] = before
	}
	text := r.Text()
	if text != before.text || before.silent {
		fmt.Fprintf(line, "worker %s %s", before.name, text)
	}
	before.text, before.heard, before.silent = text, now, false
	if r.Draining && len(r.Streams) == 0 {
		delete(k, subject) // the worker signed off, so it is not missing
	}
}

// silent reports each worker once when its messages stop.
func (w *watcher) silent(now time.Time) error {
	if w.json || !w.due("silent workers", 1) {
		return nil
	}
	for _, subject := range slices.Sorted(maps.Keys(w.workers)) {
		if k := w.workers[subject]; !k.silent && now.Sub(k.heard) > watchMissed {
			k.silent = true
			if _, err := fmt.Fprintf(w.out, "worker %s is silent\n", k.name); err != nil {
				return err
			}
		}
	}
	return nil
}
