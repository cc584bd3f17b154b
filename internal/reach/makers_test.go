package reach_test

import (
	"testing"

	"driftscope/internal/reach"
	"driftscope/internal/stream"
)

func TestMain(m *testing.M) {
	reach.SetMakers(stream.Makers)
	m.Run()
}
