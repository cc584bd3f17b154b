package main

import (
	"testing"
	"time"
)

func TestFlagsStandOverTheFile(t *testing.T) {
	seed, port := uint64(1<<64-1), 0
	c := runCmd{Sources: []string{"../../configs/molecule.yaml"}, Mode: "lossless", Seed: &seed, NATSPort: &port, Stream: "other", Out: "out.jsonl", NoStatus: true}
	cfgs, err := c.configs()
	if err != nil {
		t.Fatal(err)
	}
	cfg := cfgs[0]
	if cfg.Online.Seed != seed || cfg.Source.Options()["seed"] != seed {
		t.Errorf("seeds %d and %v, expected %d", cfg.Online.Seed, cfg.Source.Options()["seed"], seed)
	}
	if cfg.NATS.Port != 0 || cfg.Stream != "other" || cfg.Mode != "lossless" || cfg.StallAfter != 5*time.Second {
		t.Errorf("port %d, stream %s, mode %s, stall_after %v", cfg.NATS.Port, cfg.Stream, cfg.Mode, cfg.StallAfter)
	}
	if len(cfg.Sinks) != 1 || cfg.Sinks[0].Kind != "jsonl" || cfg.Sinks[0].Options()["path"] != "out.jsonl" {
		t.Errorf("sinks %v", cfg.Sinks)
	}
}
