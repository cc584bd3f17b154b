package objects

import (
	"os"
	"testing"

	"driftscope/internal/suite"
)

func TestMain(m *testing.M) { os.Exit(suite.Goroutines(m.Run())) }
