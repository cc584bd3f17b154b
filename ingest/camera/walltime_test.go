package camera

import (
	"strings"
	"testing"
	"time"
)

// TestTiming: times follow the clock that a camera reports slowly, and at once if that clock was set.
func TestTiming(t *testing.T) {
	wall := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	clock, timing := cameraClock{}, timing{reports: true, deadline: wall.Add(time.Hour)}
	if settled, _ := timing.settle(&clock, 0, wall); settled {
		t.Error("settled without a report")
	}
	timing.zero = wall.Add(-time.Minute)
	if settled, told := timing.settle(&clock, time.Second, wall); !settled || !strings.Contains(told, "59s after its acquisition") {
		t.Errorf("%q told", told)
	}
	for _, step := range []struct {
		off, want time.Duration // change of the report, and the resulting change of the clock
		warns     bool
	}{
		{0, 0, false},
		{100 * time.Millisecond, 500 * time.Microsecond, false}, // 500 µs per second
		{0, time.Millisecond, false},
		{-100 * time.Millisecond, 500 * time.Microsecond, false}, // the report returns to its old value
		{time.Hour, time.Hour, true},
	} {
		clock.set = ""
		timing.zero = timing.zero.Add(step.off)
		timing.settle(&clock, timing.last+time.Second, wall)
		if off := clock.zero.Sub(wall.Add(-time.Minute)); off != step.want && !step.warns || step.warns != (clock.set != "") {
			t.Errorf("after %v the clock is %v off, %v expected, warning %q", step.off, off, step.want, clock.set)
		}
	}
	unasked := timing
	unasked.settled, unasked.reports = false, false
	if _, told := unasked.settle(&clock, 0, wall); !strings.Contains(told, "tied to this computer's") {
		t.Errorf("%q told", told)
	}
}
