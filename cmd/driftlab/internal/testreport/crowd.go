package main

import (
	"fmt"
	"os"
	"runtime"
	"time"
)

// crowd measures the load of the machine while tests run. The processor time of a test would be a better measure, but go test does not print it, and many
// tests wait for child processes.
type crowd struct {
	load func() float64 // processes that want to run
	now  moment
	last float64 // slowdown at now
}

// moment is a time, with the integral of the machine's slowdown until then, s.
type moment struct {
	at  time.Time
	sum float64
}

// usualLoad is the number of processes per processor while make test has the machine to itself.
const usualLoad = 2

// pass advances the time to an event. It reads the load at most once per second, because the system averages it over a minute.
func (c *crowd) pass(to time.Time) {
	spent := to.Sub(c.now.at)
	if !c.now.at.IsZero() && spent < time.Second {
		return
	}
	slower := max(1, c.load()/float64(runtime.NumCPU())/usualLoad)
	if !c.now.at.IsZero() {
		c.now.sum += spent.Seconds() * (slower + c.last) / 2
	}
	c.now.at, c.last = to, slower
}

// since returns the mean slowdown of the machine since a moment; 1 for a test that ended within a second.
func (c *crowd) since(m moment) float64 {
	spent := c.now.at.Sub(m.at).Seconds()
	if m.at.IsZero() || spent <= 0 {
		return max(1, c.last)
	}
	return (c.now.sum - m.sum) / spent
}

// load returns the system's load average over the last minute, or 0 if unknown.
func load() (mean float64) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &mean); err != nil {
		return 0
	}
	return mean
}
