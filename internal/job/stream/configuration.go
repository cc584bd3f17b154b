package stream

import (
	"driftscope/internal/flow/config"
	"driftscope/internal/job/recording"
)

// Implied returns the configuration implied by a source's name. A positive dt (s) or fps (frames per second) sets the frame rate.
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

// SettleSeeds makes every seed explicit, so that it can be printed: the given seed, the configured one, or 1.
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
