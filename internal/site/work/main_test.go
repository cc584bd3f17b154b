package work

import (
	"testing"

	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }
