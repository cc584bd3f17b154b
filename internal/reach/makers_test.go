package reach_test

import (
	"driftscope/internal/reach"
	"driftscope/internal/stream"
)

func init() { reach.SetMakers(stream.Makers) }
