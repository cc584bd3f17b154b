package ingest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"driftscope/internal/fakecamera"
	"driftscope/internal/suite/mats"
)

// TestMain: started by a source that works apart, the test's own binary is that source's child.
func TestMain(m *testing.M) {
	kinds["trial"] = apart("trial", newTrial)
	if len(os.Args) == 2 && os.Args[1] == captureCommand {
		err := fakecamera.WithoutRawSockets()
		if err == nil {
			err = CaptureProcess(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	mats.Main(m)
}
