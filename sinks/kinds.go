// Package sinks shows the world what a stream does: messages on NATS, lines and tables in files, a live status on the terminal, metrics. It also
// defines how messages look outside the process, and reads them back.
package sinks

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"driftscope/internal/bus"
	"driftscope/internal/latent"
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
	About    func() About // what runs now; asked from any goroutine. nil says nothing
	Bus      *bus.Conn    // nil where NATS is off
	Stdout   io.Writer
	Terminal bool         // Stdout is a terminal
	Log      *slog.Logger // nil is silent
	Metrics  *Metrics     // nil where nobody can ask for them
}

// constructor makes one kind of sink from the options written under it. decode is strict: an unknown key is an error.
type constructor func(decode func(dst any) error, env Env) (Sink, error)

// kinds is the only list of sinks: a new one is its file, its test and one line here.
var kinds = map[string]constructor{
	"csv":      newCSV,
	"jsonl":    newJSONL,
	"nats":     newNATS,
	"parquet":  newParquet,
	"terminal": newTerminal,
}

// New makes a sink of the given kind. decode fills the kind's options, which are checked here.
func New(kind string, decode func(dst any) error, env Env) (Sink, error) {
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
