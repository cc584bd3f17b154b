package file

import (
	"context"
	"log/slog"

	"driftscope/internal/flow/latent"
)

// sink is the interface of all kinds of files.
type sink interface {
	Write(ctx context.Context, m latent.Message) error
	Close(ctx context.Context) error
}

var silent = slog.New(slog.DiscardHandler)

// open makes a sink of a kind.
func open(kind string, decode func(any) error, log *slog.Logger) (sink, error) {
	switch kind {
	case "csv":
		return NewCSV(decode, log)
	case "jsonl":
		return NewJSONL(decode, "bead", log)
	}
	return NewParquet(decode, "bead", log)
}
