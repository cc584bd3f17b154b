package bustest

import (
	"testing"

	"driftscope/internal/suite"
)

// NewWire connects a free port of 127.0.0.1 to target, host:port, until the test ends.
func NewWire(t testing.TB, target string) *suite.Link {
	t.Helper()
	l, err := suite.NewLink(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}
