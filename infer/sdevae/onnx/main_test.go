package onnx

import (
	"testing"

	"driftscope/internal/suite"
)

func TestMain(m *testing.M) {
	suite.PassiveThreads()
	suite.Main(m)
}
