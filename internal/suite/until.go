package suite

import (
	"context"
	"testing"
	"time"
)

// patience is the time limit for events that take milliseconds on an idle machine.
const patience = 30 * time.Second

// Until waits until is() returns true. After half a minute it fails the test. what describes the event for the error; it may include a func() string that
// describes the present state.
func Until(t testing.TB, is func() bool, what ...any) {
	t.Helper()
	UntilWithin(t, patience, is, what...)
}

// UntilWithin is Until with another time limit.
func UntilWithin(t testing.TB, within time.Duration, is func() bool, what ...any) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(within); !is(); <-tick.C {
		if time.Now().Before(end) {
			continue
		}
		said := []any{"not within", within, ":"}
		for _, w := range what {
			if now, ok := w.(func() string); ok {
				w = now()
			}
			said = append(said, w)
		}
		t.Fatal(said...)
	}
}

// Soon returns a context that ends after half a minute, or with the test.
func Soon(t testing.TB) context.Context {
	ctx, done := context.WithTimeout(context.Background(), patience)
	t.Cleanup(done)
	return ctx
}
