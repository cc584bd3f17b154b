package suite

import (
	"context"
	"testing"
	"time"
)

// patience is how long a test waits for what comes within milliseconds on an idle machine.
const patience = 30 * time.Second

// Until waits until is says so, and ends the test where that takes longer than half a minute; what says what was waited for.
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
		if time.Now().After(end) {
			t.Fatal(append([]any{"it has not come to be so within", within}, what...)...)
		}
	}
}

// Soon is a context that ends after half a minute, or with the test.
func Soon(t testing.TB) context.Context {
	ctx, done := context.WithTimeout(context.Background(), patience)
	t.Cleanup(done)
	return ctx
}
