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

// TestMain: the test's binary is also the child process of sources that run in one.
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
