package online

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// long skips a test under -short, which make test asks for beside the race detector: there it takes several times as long, and shorter ones
// watch the same goroutines.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long beside the race detector: run without -short")
	}
}
