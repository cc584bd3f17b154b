package recording

import (
	"math"
	"strings"
	"testing"

	"driftscope/internal/exit"
)

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]Span{
		"": {0, math.MaxUint64}, "0:80": {0, 80}, ":5": {0, 5}, "7:": {7, math.MaxUint64},
	} {
		if got, err := ParseSpan("--frames", text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"80", "8:8", "9:3", "a:b", "-1:4", "1:2:3"} {
		if _, err := ParseSpan("--frames", text); err == nil || exit.Status(err) != 2 || !strings.HasPrefix(err.Error(), "--frames ") {
			t.Errorf("%q: %v, a usage error of --frames expected", text, err)
		}
	}
}
