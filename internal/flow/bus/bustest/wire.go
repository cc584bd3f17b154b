package bustest

import (
	"testing"

	"driftscope/internal/suite/link"
)

// NewWire connects a free port of 127.0.0.1 to target, host:port, until the test ends.
func NewWire(t testing.TB, target string) *link.Link {
	t.Helper()
	l, err := link.New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}
