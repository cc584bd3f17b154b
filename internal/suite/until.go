package suite

import (
	"context"
	"testing"
	"time"
)

// patience is how long a test waits for what comes within milliseconds on an idle machine.
const patience = 30 * time.Second

// Until waits until is says so, and ends the test where that takes longer than half a minute. what says what was waited for; a func() string of it says how
// things are then.
func Until(t testing.TB, is func() bool, what ...any) {
	t.Helper()
	UntilWithin(t, patience, is, what...)
}

// UntilWithin is Until for what may take so long.
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

// Soon is a context that ends after half a minute, or with the test.
func Soon(t testing.TB) context.Context {
	ctx, done := context.WithTimeout(context.Background(), patience)
	t.Cleanup(done)
	return ctx
}
