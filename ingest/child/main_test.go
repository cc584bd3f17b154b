package child

import (
	"context"
	"fmt"
	"os"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

// TestMain: the test's binary is also the child process of sources that run in one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == Command {
		if err := ServeProcess(context.Background(), construct); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	suite.Main(m)
}

// kinds are the sources that the child can open.
var kinds = map[string]Constructor{"trial": Apart("trial", newTrial)}

func newRecording(t testing.TB, kind, options string) pipeline.Source {
	t.Helper()
	return ingesttest.New(t, kinds[kind], options)
}

func openRecording(t testing.TB, kind, options string) pipeline.Source {
	t.Helper()
	return ingesttest.Open(t, kinds[kind], options)
}

func construct(kind string, decode func(dst any) error) (pipeline.Source, error) {
	if kinds[kind] == nil {
		return nil, fmt.Errorf("source kind %q is not known here", kind)
	}
	return kinds[kind](decode)
}
