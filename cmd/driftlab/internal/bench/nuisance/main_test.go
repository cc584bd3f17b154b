package nuisance

import (
	"testing"

	"driftscope/internal/suite"
	"driftscope/internal/suite/mats"
)

func TestMain(m *testing.M) {
	suite.PassiveThreads()
	mats.Main(m)
}
