package recording

import (
	"math"
	"strings"
	"testing"

	"driftscope/internal/flow/frame"
	"driftscope/internal/kit/console"
)

// TestSimulatedFrames: a simulation has the length of the paper's films, unless the user sets it.
func TestSimulatedFrames(t *testing.T) {
	for arg, want := range map[string]int{"sim:balls-ou": SimulatedFrames, "sim:balls-ou?frames=7": 7, "sim:vesicle?frames=3&width=32&height=32": 3} {
		rec, err := Open(arg, 0, 0, "", Whole)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		if _, err := rec.Each(t.Context(), nil, func(*frame.Frame) error { n++; return nil }); err != nil || n != want {
			t.Errorf("%s: %d frames, %v; %d expected", arg, n, err, want)
		}
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]Span{
		"": {0, math.MaxUint64}, "0:80": {0, 80}, ":5": {0, 5}, "7:": {7, math.MaxUint64},
	} {
		if got, err := ParseSpan("--frames", text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"80", "8:8", "9:3", "a:b", "-1:4", "1:2:3"} {
		if _, err := ParseSpan("--frames", text); err == nil || console.Status(err) != 2 || !strings.HasPrefix(err.Error(), "--frames ") {
			t.Errorf("%q: %v, a usage error of --frames expected", text, err)
		}
	}
}
