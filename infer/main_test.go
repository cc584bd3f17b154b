package infer_test

import (
	"fmt"
	"os"
	"testing"

	"driftscope/infer"
	"driftscope/internal/suite"
)

// loadAndExit is the environment variable with the path of a model. The test binary then loads the model and exits: see TestLoadIsQuiet.
const loadAndExit = "DRIFTSCOPE_TEST_LOAD"

// misbehave is the environment variable with the misbehaviour that a trial process shows instead of the trial.
const misbehave = "DRIFTSCOPE_TEST_TRIAL"

// TestMain runs a trial if the test's own binary was started as a trial process.
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
