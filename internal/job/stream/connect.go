// Package stream assembles the command run: from a configuration to the stages of internal/flow/pipeline, the streams of one process, and changes while
// they run, such as another model or a new start.
package stream

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
)

// TerminalSink is the kind of sink that a stream adds itself for a terminal.
const TerminalSink = "terminal"

// Connect reaches the bus, or starts the embedded one; nil if it is off.
func Connect(ctx context.Context, cfg config.Config) (*bus.Conn, error) {
	o := cfg.NATS
	if o.URL == config.NATSOff {
		return nil, nil
	}
	store, most := "", 2<<30+32*o.MaxBytes
	if cfg.Frames.Durable {
		most += cfg.Frames.MaxBytes
	}
	if (o.Durable || o.MQTT != "" || cfg.Frames.Durable && o.Store != "") && o.URL == config.NATSEmbedded {
		store = filepath.Join(o.Store, "server")
	}
	return bus.Connect(ctx, bus.Options{
		URL: o.URL, Store: store, StoreMost: most, Port: o.Port, Prefix: o.Prefix, Site: o.Site, WebSocket: o.WebSocket, MQTT: o.MQTT, Pages: pagesMay(cfg.Dashboard),
		Token: o.Token, Credentials: o.Creds, NKey: o.NKey, CA: o.CA, Cert: o.Cert, Key: o.Key, Log: logger(cfg),
	})
}

// logger writes warnings to standard error if no live status would be torn by them.
func logger(cfg config.Config) *slog.Logger {
	if slices.ContainsFunc(cfg.Sinks, func(s config.Component) bool { return s.Kind == TerminalSink }) {
		return slog.New(slog.DiscardHandler)
	}
	return bus.Warnings()
}
