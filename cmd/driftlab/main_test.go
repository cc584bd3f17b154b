package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"driftscope/infer"
	"driftscope/internal/suite"
)

// asDriftlab makes the test binary run as driftlab, so tests see real exit statuses and output.
const asDriftlab = "DRIFTLAB_TEST_AS_MAIN"

// patience is the time limit of one command. It is long because of the race detector and busy machines.
const patience = 10 * time.Minute

// TestMain fails the suite if a goroutine or, under -tags matprofile, a Mat outlives it. The same holds for every command that a test runs.
func TestMain(m *testing.M) {
	child := len(os.Args) == 2 && (os.Args[1] == "capture" || os.Args[1] == infer.TrialCommand)
	if os.Getenv(asDriftlab) == "" && !child {
		suite.Main(m)
	}
	os.Exit(suite.Mats(suite.Goroutines(execute(context.Background(), os.Args[1:]))))
}

// outcome is the exit status and the output of a finished command.
type outcome struct {
	status      int
	out, errors string
}

// drive runs driftlab in a folder until it ends.
func drive(t *testing.T, folder string, args ...string) outcome {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, self, args...)
	var out, problems bytes.Buffer
	c.Dir, c.Stdout, c.Stderr, c.Env = folder, &out, &problems, append(os.Environ(), asDriftlab+"=1")
	err = c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), out.String(), problems.String()}
}

// check verifies a failed command: its exit status, a last line that names the error, and no stack trace.
func (o outcome) check(t *testing.T, status int, want string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(o.errors), "\n")
	last := lines[len(lines)-1]
	if o.status != status || !strings.HasPrefix(last, "driftlab: ") || !strings.Contains(last, want) || strings.Contains(o.errors, "goroutine ") {
		t.Errorf("status %d, expected %d and driftlab: ... %s\n%s", o.status, status, want, o.errors)
	}
}

// TestMistakes: wrong flags end with status 2 and a line that says what was expected.
func TestMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"fly":                               "driftlab --help lists the options",
		"bench objects --scenario worm":     `found "worm", expected one of`,
		"bench cluster --driftscope none/x": "make build makes bin/driftscope",
	} {
		drive(t, t.TempDir(), strings.Fields(line)...).check(t, 2, want)
	}
}

// program builds driftscope, because a bench starts its workers.
func program(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "driftscope")
	if out, err := exec.Command("go", "build", "-o", path, "../driftscope").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}
