package stream

import (
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/config"
)

// withLead returns a configuration with a rule and a lead.
func withLead(t *testing.T, text string) config.Config {
	t.Helper()
	cfg := config.Default()
	cfg.Online.Lead = text
	rule, err := config.NewComponent("lost", map[string]any{"name": "gone"})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Triggers = []config.Component{rule}
	return cfg
}

// A measured lead is the sum of the median times of frames and pins and the time given with auto. A fixed lead uses no clock.
func TestLead(t *testing.T) {
	measured, err := newLead(withLead(t, "auto+5ms"), false)
	if err != nil {
		t.Fatal(err)
	}
	if got := measured.asked()(); got != 0.005 {
		t.Errorf("before any frame: found %g s, expected what is written beside auto", got)
	}
	for i := range 3 * leadFrames {
		measured.frame(time.Duration(i%3+1) * time.Millisecond) // 1, 2 and 3 ms
	}
	measured.pin(time.Second) // an outlier
	measured.pin(time.Millisecond)
	measured.pin(time.Millisecond)
	if got := measured.asked()(); got != 0.008 {
		t.Errorf("found %g s, expected 2 + 1 + 5 ms", got)
	}
	for range leadFrames {
		measured.frame(20 * time.Millisecond)
	}
	if got := measured.asked()(); got != 0.026 {
		t.Errorf("after as many slower frames as count: found %g s, expected 26 ms", got)
	}
	fixed, err := newLead(withLead(t, "12ms"), true)
	if err != nil {
		t.Fatal(err)
	}
	fixed.frame(time.Second)
	if got := fixed.asked()(); got != 0.012 {
		t.Errorf("found %g s, expected 12 ms", got)
	}
}

// Without a user there is no lead, and a source that waits for tracking cannot have a measured one.
func TestNoLead(t *testing.T) {
	without := withLead(t, "12ms")
	without.Triggers = nil
	for name, cfg := range map[string]config.Config{"not set": withLead(t, ""), "no rules": without} {
		l, err := newLead(cfg, false)
		if err != nil || l.asked() != nil {
			t.Errorf("%s: found %v, %v", name, l, err)
		}
		l.pin(time.Second) // the sinks call pin also on a nil lead
	}
	if _, err := newLead(withLead(t, "auto"), true); err == nil || !strings.Contains(err.Error(), "give a duration") {
		t.Errorf("a recording: found %v", err)
	}
	if err := Check(withSource(t, withLead(t, "auto"), false)); err == nil || !strings.Contains(err.Error(), "online.lead") {
		t.Errorf("lint of a recording: found %v", err)
	}
	if err := Check(withSource(t, withLead(t, "auto"), true)); err != nil {
		t.Errorf("lint of a live source: found %v", err)
	}
}

func withSource(t *testing.T, cfg config.Config, realtime bool) config.Config {
	t.Helper()
	var err error
	if cfg.Source, err = config.NewComponent("sim", map[string]any{"name": "molecule", "realtime": realtime}); err != nil {
		t.Fatal(err)
	}
	return cfg
}
