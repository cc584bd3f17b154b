package work

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"driftscope/internal/flow/config"
	"driftscope/internal/job/recording"
	"driftscope/internal/job/stream"
	"driftscope/internal/kit/console"
)

// configuration returns the configuration that a worker runs for a desired stream: with its secrets, on the worker's own connection, and
// without terminal output. The law and the results of a leased stream are always stored, because another worker may continue from them.
func (w *Worker) configuration(name, text string) (config.Config, error) {
	cfg, err := config.Parse(name, []byte(text))
	if err != nil {
		return cfg, console.Usage(err)
	}
	written := cfg
	if cfg, err = cfg.Resolve(secret); err != nil {
		return cfg, console.Usage(err)
	}
	own, kept := w.o.NATS, cfg.NATS
	cfg.NATS = own
	cfg.NATS.Durable, cfg.NATS.Store, cfg.NATS.Replicas = true, filepath.Join(w.o.Store, name), w.o.Replicas
	cfg.NATS.MaxAge, cfg.NATS.MaxBytes = kept.MaxAge, kept.MaxBytes
	cfg.Stream, cfg.Dashboard = name, config.Dashboard{Address: config.DashboardOff}
	cfg.Online.State = "" // a file would stay on this machine, but the law moves with the stream
	cfg.Sinks = slices.DeleteFunc(cfg.Sinks, func(c config.Component) bool { return c.Kind == stream.TerminalSink })
	written.Sinks = slices.DeleteFunc(slices.Clone(written.Sinks), func(c config.Component) bool { return c.Kind == stream.TerminalSink })
	if cfg, err = w.o.Allow.Hold(cfg, written, filepath.Join(w.o.Store, name, "files")); err != nil {
		return cfg, console.Usage(err)
	}
	if cfg.Source.Kind == recording.NatsSource {
		if cfg.Source, err = w.reading(cfg.Source); err != nil {
			return cfg, err
		}
	}
	return cfg, console.Usage(errors.Join(stream.SettleSeeds(&cfg, nil), cfg.Validate()))
}

// reading sets the worker's server for a NATS source without a server.
func (w *Worker) reading(source config.Component) (_ config.Component, err error) {
	if _, named := source.Options()["url"]; named {
		return source, nil
	}
	for _, option := range [][2]string{{"url", w.o.NATS.URL}, {"credentials", w.o.NATS.Creds}, {"ca", w.o.NATS.CA}} {
		if option[1] == "" {
			continue
		}
		if source, err = source.With(option[0], option[1]); err != nil {
			return source, err
		}
	}
	return source, nil
}

// secretPrefix is the prefix of environment variables with secrets. No other variable can be requested.
const secretPrefix = "DRIFTSCOPE_SECRET_"

// mostSecret is the largest size of a secret in bytes.
const mostSecret = 4 << 10

// secret returns the value of ${secret:NAME} on this machine: a variable of the environment, or a file from systemd's credentials.
func secret(name string) (string, error) {
	variable := secretPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
	if value, ok := os.LookupEnv(variable); ok {
		return value, nil
	}
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	data, err := os.ReadFile(filepath.Join(cmp.Or(folder, string(filepath.Separator)+"nowhere"), name))
	if err != nil || len(data) > mostSecret {
		return "", fmt.Errorf("${secret:%s}: this worker lacks the secret: start it with %s, or with LoadCredential=%s:PATH in its systemd unit", name, variable, name)
	}
	return strings.TrimSpace(string(data)), nil
}
