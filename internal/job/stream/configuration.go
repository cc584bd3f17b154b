package stream

import (
	"driftscope/internal/flow/config"
	"driftscope/internal/job/recording"
)

// Implied returns the configuration implied by a source's name. dt, s, or fps, frames a second, set the frame rate if not 0.
func Implied(source string, dt, fps float64) (config.Config, error) {
	cfg := config.Default()
	component, err := recording.Source(source, dt, fps)
	if err != nil {
		return cfg, err
	}
	cfg.Source, cfg.Stream = component, recording.StreamName(source)
	cfg.Sinks = []config.Component{{Kind: TerminalSink}}
	return cfg, nil
}

// SettleSeeds settles every seed so that it can be printed: the given one, the configured one, or 1.
func SettleSeeds(cfg *config.Config, given *uint64) (err error) {
	if given != nil {
		cfg.Online.Seed = *given
	}
	if cfg.Source.Kind != recording.SimSource {
		return nil
	}
	_, written := cfg.Source.Options()["seed"]
	switch {
	case given != nil:
		cfg.Source, err = cfg.Source.With("seed", *given)
	case !written:
		cfg.Source, err = cfg.Source.With("seed", 1)
	}
	return err
}
