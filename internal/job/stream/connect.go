// Package stream implements the command run. It builds the stages of internal/flow/pipeline from configurations, runs the streams of one process, and
// changes them while they run, such as to another model or by a restart.
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

// Connect connects to the bus, or starts the embedded server. It returns nil if the bus is off.
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

// logger writes warnings to standard error, unless they would garble the live status.
func logger(cfg config.Config) *slog.Logger {
	if slices.ContainsFunc(cfg.Sinks, func(s config.Component) bool { return s.Kind == TerminalSink }) {
		return slog.New(slog.DiscardHandler)
	}
	return bus.Warnings()
}
