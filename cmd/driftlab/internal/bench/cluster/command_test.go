package cluster

import (
	"strings"
	"testing"
	"time"
)

// TestRefused: what cannot be measured is refused before anything starts.
func TestRefused(t *testing.T) {
	right := Command{Study: "faults", Trials: 1, Faults: []string{faultKill}, Workers: 2, Streams: 1, FPS: 1, Replicas: 3, TTL: 5 * time.Second, For: time.Minute}
	if err := right.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Command){
		"--faults":       func(c *Command) { c.Faults = []string{"fire"} },
		"--trials":       func(c *Command) { c.Trials = 0 },
		"--workers":      func(c *Command) { c.Workers = 1 },
		"--fps":          func(c *Command) { c.FPS = 0 },
		"--replicas":     func(c *Command) { c.Replicas = 2 },
		"--ttl":          func(c *Command) { c.TTL = time.Millisecond },
		"--for":          func(c *Command) { c.For = 0 },
		"--replicas 1: ": func(c *Command) { c.Replicas, c.Faults = 1, []string{faultMeta} },
	} {
		wrong := right
		change(&wrong)
		if err := wrong.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
