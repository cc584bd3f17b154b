package infer_test

import (
	"fmt"
	"os"
	"testing"

	"driftscope/infer"
	"driftscope/internal/suite"
)

// loadAndExit names the model that the test binary only loads when it runs as a child: see TestLoadIsQuiet.
const loadAndExit = "DRIFTSCOPE_TEST_LOAD"

// misbehave names what a process that tries a model does instead.
const misbehave = "DRIFTSCOPE_TEST_TRIAL"

// TestMain: started to try a model, the test's own binary is that child.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == infer.TrialCommand {
		try := infer.TrialProcess
		if how := os.Getenv(misbehave); how != "" {
			try = func() error { return infer.Misbehave(how) }
		}
		if err := try(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if path := os.Getenv(loadAndExit); path != "" {
		_, err := infer.Load(path)
		fmt.Println(err)
		return
	}
	suite.Main(m)
}
