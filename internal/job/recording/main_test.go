package recording

import (
	"testing"

	"driftscope/internal/suite/mats"
)

func TestMain(m *testing.M) { mats.Main(m) }
