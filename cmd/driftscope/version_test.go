package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// A program built by go build in a checkout names the checked-out commit.
func TestVersion(t *testing.T) {
	suite.Long(t) // it builds the program
	commit, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Skip("not a checkout:", err)
	}
	program := filepath.Join(t.TempDir(), "driftscope")
	if out, err := exec.Command("go", "build", "-buildvcs=true", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program, "version", "--json").Output()
	var b console.Build
	if err == nil {
		err = json.Unmarshal(out, &b)
	}
	if want := strings.TrimSpace(string(commit)); err != nil || strings.TrimSuffix(b.Commit, "+") != want || b.Go != runtime.Version() || b.OpenCV == "" || b.Date == "" {
		t.Errorf("%v: found %s, expected commit %s", err, out, want)
	}
	text, err := exec.Command(program, "version").Output()
	if err != nil || !strings.HasPrefix(string(text), "driftscope ") || !strings.Contains(string(text), b.Commit) || strings.Count(string(text), "\n") != 4 {
		t.Errorf("%v: found %s", err, text)
	}
}
