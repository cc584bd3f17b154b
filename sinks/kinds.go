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

// Sink takes *latent.Estimate, *latent.Law, *latent.Event, *latent.Trigger, *latent.Health and *latent.View; it is pipeline.Sink, said without importing what
// holds frames.
type Sink interface {
	Write(ctx context.Context, m latent.Message) error
	Close(ctx context.Context) error
}

// Env is what a stream lends its sinks. They close none of it.
type Env struct {
	Stream   string
	About    func() natsink.About // what runs now; asked from any goroutine. nil says nothing
	Bus      *bus.Conn            // nil where NATS is off
	Bucket   *natsink.Bucket      // nil where nothing is kept
	Service  *natsink.Service     // nil where the stream ends with its run
	Lease    natsink.Lease        // under which a worker runs the stream; nil where none does
	Standing *natsink.Standing    // of what is kept, where its frames come again; nil where they do not
	Stdout   io.Writer
	Terminal bool         // Stdout is a terminal
	Log      *slog.Logger // nil is silent
	Metrics  *Metrics     // nil where nobody can ask for them
	// Commands is given where commands arrive through a sink; nil where nobody applies them.
	Commands func(arriving <-chan latent.Command)

	Rules []string // names of the triggers' rules; nil where they are not known
	Check bool     // options are checked: a sink that writes to a device opens none
	// Wrote is told, from any goroutine, how long after a trigger a device had taken it; nil tells nobody.
	Wrote func(t *latent.Trigger, took time.Duration)
}

// pin is what the sinks that end in a wire use of env.
func (env Env) pin() pin.Env {
	return pin.Env{Stream: env.Stream, Rules: env.Rules, Check: env.Check, Log: env.Log, Wrote: env.Wrote}
}

// nats is what the NATS sink uses of env.
func (env Env) nats() natsink.Env {
	return natsink.Env{
		Stream: env.Stream, About: env.About, Bus: env.Bus, Bucket: env.Bucket, Service: env.Service, Lease: env.Lease, Standing: env.Standing, Log: env.Log,
		Watch: func(waiting func() int64) { env.Metrics.watch(env.Stream, waiting) },
	}
}

// decoder fills a sink's options from what is written under it. It is strict: an unknown key is an error.
type decoder = func(dst any) error

// kinds is the only list of sinks: a new one is its file, its test and one line here, which hands it what it uses of env.
var kinds = map[string]func(decode decoder, env Env) (Sink, error){
	"csv":      func(decode decoder, env Env) (Sink, error) { return file.NewCSV(decode, env.Log) },
	"gpio":     func(decode decoder, env Env) (Sink, error) { return pin.NewGPIO(decode, env.pin()) },
	"jsonl":    func(decode decoder, env Env) (Sink, error) { return file.NewJSONL(decode, env.Stream, env.Log) },
	"nats":     newNATS,
	"osc":      func(decode decoder, env Env) (Sink, error) { return pin.NewOSC(decode, env.pin()) },
	"parquet":  func(decode decoder, env Env) (Sink, error) { return file.NewParquet(decode, env.Stream, env.Log) },
	"serial":   func(decode decoder, env Env) (Sink, error) { return pin.NewSerial(decode, env.pin()) },
	"terminal": func(decode decoder, env Env) (Sink, error) { return newTerminal(decode, env) },
}

func newNATS(decode decoder, env Env) (Sink, error) {
	s, err := natsink.New(decode, env.nats())
	if err == nil && env.Commands != nil {
		env.Commands(s.Commands())
	}
	return s, err
}

// New makes a sink of the given kind. decode fills the kind's options, which are checked here.
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

// Kinds returns the names New knows, sorted.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds)) }
