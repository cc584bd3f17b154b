package camera

import (
	"context"
	"fmt"
	"os"
	"testing"

	"driftscope/ingest/child"
	"driftscope/ingest/ingesttest"
	"driftscope/internal/flow/pipeline"
	"driftscope/internal/suite"
)

// TestMain: the test's binary is also the child process of sources that run in one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == child.Command {
		err := suite.WithoutRawSockets()
		if err == nil {
			err = child.ServeProcess(context.Background(), construct)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	suite.Main(m)
}

// kinds are the sources of this package, as ingest makes them.
var kinds = map[string]child.Constructor{
	"camera":  child.Apart("camera", NewCamera),
	"genicam": child.Apart("genicam", NewGenICam),
	"gst":     child.Apart("gst", NewGStreamer),
	"url":     child.Apart("url", NewURL),
}

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
