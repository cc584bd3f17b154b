//go:build cgo

package ingest

import (
	"context"
	"fmt"
	"os"
	"testing"

	"driftscope/ingest/child"
	"driftscope/internal/suite"
)

// TestMain: started by a source that works in a child process, the test's own binary is that child.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == child.Command {
		if err := CaptureProcess(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	suite.Main(m)
}
