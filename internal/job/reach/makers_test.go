package reach_test

import (
	"testing"

	"driftscope/internal/job/reach"
	"driftscope/internal/job/stream"
)

func TestMain(m *testing.M) {
	reach.SetMakers(stream.Makers)
	m.Run()
}
