package sinks

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/file"
	"driftscope/sinks/natsink"
	"driftscope/sinks/pin"
)

// Sink receives *latent.Estimate, *latent.Law, *latent.Event, *latent.Trigger, *latent.Health and *latent.View. It equals pipeline.Sink, and is declared here
// to avoid the import of packages that handle frames.
type Sink interface {
	Write(ctx context.Context, m latent.Message) error
	Close(ctx context.Context) error
}

// Env holds the resources of a stream for its sinks. Sinks close none of them.
type Env struct {
	Stream   string
	About    func() natsink.About // returns a description of the present run; callable from any goroutine; nil if unknown
	Bus      *bus.Conn            // nil if NATS is off
	Bucket   *natsink.Bucket      // nil without durability
	Service  *natsink.Service     // nil if the stream ends with its run
	Lease    natsink.Lease        // lease of the worker that runs the stream; nil without a worker
	Standing *natsink.Standing    // the stored results, if frames are replayed; otherwise nil
	Stdout   io.Writer
	Terminal bool         // Stdout is a terminal
	Log      *slog.Logger // nil is silent
	Metrics  *Metrics     // nil if the process serves no metrics
	// Commands is called with the channel of a sink that accepts commands; nil if the caller applies none.
	Commands func(arriving <-chan latent.Command)

	Rules []string // names of the triggers' rules; nil if unknown
	Check bool     // only check the options: a sink opens no device
	// Wrote is called with the delay from a trigger to its acceptance by a device, from any goroutine. It may be nil.
	Wrote func(t *latent.Trigger, took time.Duration)
}

// pin returns the part of env for the sinks of package pin.
func (env Env) pin() pin.Env {
	return pin.Env{Stream: env.Stream, Rules: env.Rules, Check: env.Check, Log: env.Log, Wrote: env.Wrote}
}

// nats returns the part of env for the NATS sink.
func (env Env) nats() natsink.Env {
	return natsink.Env{
		Stream: env.Stream, About: env.About, Bus: env.Bus, Bucket: env.Bucket, Service: env.Service, Lease: env.Lease, Standing: env.Standing, Log: env.Log,
		Watch: func(waiting func() int64) { env.Metrics.watch(env.Stream, waiting) },
	}
}

// decoder fills a sink's options from its part of the configuration. It is strict: an unknown key is an error.
type decoder = func(dst any) error

// kinds is the only list of sinks. A new sink needs its file, its test and one line here, which passes the parts of env that the sink uses.
var kinds = map[string]func(decode decoder, env Env) (Sink, error){
	"csv":       func(decode decoder, env Env) (Sink, error) { return file.NewCSV(decode, env.Log) },
	"geff":      func(decode decoder, env Env) (Sink, error) { return file.NewGEFF(decode, env.Stream, env.Log) },
	"gpio":      func(decode decoder, env Env) (Sink, error) { return pin.NewGPIO(decode, env.pin()) },
	"jsonl":     func(decode decoder, env Env) (Sink, error) { return file.NewJSONL(decode, env.Stream, env.Log) },
	"nats":      newNATS,
	"osc":       func(decode decoder, env Env) (Sink, error) { return pin.NewOSC(decode, env.pin()) },
	"parquet":   func(decode decoder, env Env) (Sink, error) { return file.NewParquet(decode, env.Stream, env.Log) },
	"serial":    func(decode decoder, env Env) (Sink, error) { return pin.NewSerial(decode, env.pin()) },
	"terminal":  func(decode decoder, env Env) (Sink, error) { return newTerminal(decode, env) },
	"trackmate": func(decode decoder, env Env) (Sink, error) { return file.NewTrackMate(decode, env.Log) },
}

func newNATS(decode decoder, env Env) (Sink, error) {
	s, err := natsink.New(decode, env.nats())
	if err == nil && env.Commands != nil {
		env.Commands(s.Commands())
	}
	return s, err
}

// New makes a sink of the given kind. decode fills the kind's options, and New checks them.
func New(kind string, decode decoder, env Env) (Sink, error) {
	construct, known := kinds[kind]
	if !known {
		return nil, fmt.Errorf("sink kind %q is not known: give one of %s", kind, strings.Join(Kinds(), ", "))
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	sink, err := construct(decode, env)
	if err != nil {
		return nil, fmt.Errorf("sink %s: %w", kind, err)
	}
	return sink, nil
}

// Kinds returns the names of all kinds, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
