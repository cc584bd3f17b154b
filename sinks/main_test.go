package sinks

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails the suite if a goroutine outlives it.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
