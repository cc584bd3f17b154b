package pipeline

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestFullSinkLosesHealth: in mode Lossless a sink with a full queue loses a Health. It gets the report of this loss, and nothing deadlocks.
func TestFullSinkLosesHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(2000)
		g.sinks = []*sink{{deaf: true, delay: 5 * time.Millisecond}}
		summary, err := g.run(t, 0)
		if n := len(g.sinks[0].estimates); err != nil || n != 2000 || summary.Dropped["sink_a"] < 5 {
			t.Errorf("%d estimates of 2000, dropped %v: %v", n, summary.Dropped, err)
		}
		if told := g.sinks[0].count("sink_a"); told < 5 {
			t.Errorf("the sink was told of %d losses of its own, of %d", told, summary.Dropped["sink_a"])
		}
	})
}
