package ingest

import (
	"slices"
	"strings"
	"testing"
)

// TestLacks: every build knows every kind of source. If a build lacks a kind, the error names the build that has it.
func TestLacks(t *testing.T) {
	var lacking []string
	for _, kind := range Kinds() {
		if !Lacks(kind) {
			continue
		}
		lacking = append(lacking, kind)
		if _, err := New(kind, func(any) error { return nil }); err == nil || !strings.HasPrefix(err.Error(), "source "+kind+": ") || !strings.Contains(err.Error(), "use a build with OpenCV") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if want := []string{"camera", "genicam", "gst", "url", "video"}; len(lacking) > 0 && !slices.Equal(lacking, want) {
		t.Errorf("lacking are %v, expected %v", lacking, want)
	}
}
