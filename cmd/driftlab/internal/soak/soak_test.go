package soak

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"driftscope/internal/suite"
)

// root is the path from this package to the repository.
const root = "../../../.."

// soaking is the time limit of a short soak on a busy machine: half a minute, and the waiting times before and after.
const soaking = 9 * time.Minute

// built returns driftlab and driftscope, as make soak builds them, but without the count of Mats.
func built(t *testing.T) (lab, driftscope string) {
	t.Helper()
	if _, err := exec.LookPath("arv-fake-gv-camera-0.8"); err != nil {
		if os.Getenv(suite.CameraRequired) != "" {
			t.Fatal("arv-fake-gv-camera-0.8 is not installed: ./internal/setup/install.sh tests installs it")
		}
		t.Skip("arv-fake-gv-camera-0.8 is not installed: ./internal/setup/install.sh tests installs it")
	}
	folder := t.TempDir()
	for _, name := range []string{"cmd/driftlab", "cmd/driftscope"} {
		c := exec.Command("go", "build", "-o", folder, "./"+name)
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return filepath.Join(folder, "driftlab"), filepath.Join(folder, "driftscope")
}

// started starts a soak with its own folder for temporary files. If the audit fails, this folder becomes an artifact.
func started(t *testing.T, args ...string) (c *exec.Cmd, out, problems *bytes.Buffer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soaking)
	t.Cleanup(cancel)
	c = exec.CommandContext(ctx, args[0], args[1:]...)
	out, problems = &bytes.Buffer{}, &bytes.Buffer{}
	c.Dir, c.Stdout, c.Stderr = root, out, problems
	folder, err := filepath.Abs(t.ArtifactDir())
	if err != nil {
		t.Fatal(err)
	}
	c.Env = append(os.Environ(), "TMPDIR="+folder)
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = time.Minute
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, out, problems
}

// TestBriefly: half a minute with every fault once. The account reports no loss, and no process is left running.
func TestBriefly(t *testing.T) {
	suite.Long(t) // three programs, none of them this one: there is nothing for the race detector to see
	lab, driftscope := built(t)
	file := filepath.Join(t.TempDir(), "soak.md")
	c, out, problems := started(t, lab, "soak", "--for", "30s", "--seed", "3", "--driftscope", driftscope, "--out", file)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, problems, out)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`\| \*\*lost\*\* \| \*\*0\*\* \|`, `\| the audit \| holds \|`, `\| kill -9 of the server \| 1 \|`, `\| acam \| genicam \|`} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("the account lacks %s:\n%s", want, text)
		}
	}
	if out.String() != string(text) {
		t.Errorf("the printed account differs from the file:\n%s", out)
	}
	gone(t, c)
}

// TestInterrupted: Ctrl-C ends all processes, is reported and counts as a failure. The folder with the logs remains, and its name is printed.
func TestInterrupted(t *testing.T) {
	suite.Long(t) // three programs, none of them this one: there is nothing for the race detector to see
	lab, driftscope := built(t)
	c, _, problems := started(t, lab, "soak", "--for", "10m", "--seed", "3", "--driftscope", driftscope, "--out", filepath.Join(t.TempDir(), "soak.md"))
	time.Sleep(5 * time.Second)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v, expected exit status 1\n%s", err, problems)
	}
	_, kept, found := strings.Cut(problems.String(), "is kept in ")
	kept, _, _ = strings.Cut(kept, "\n")
	if info, err := os.Stat(kept); !found || err != nil || !info.IsDir() {
		t.Errorf("the output names no folder: %v\n%s", err, problems)
	}
	gone(t, c)
}

// gone fails the test if a process with the marker of this soak is still running.
func gone(t *testing.T, c *exec.Cmd) {
	t.Helper()
	folder, _ := strings.CutPrefix(c.Env[len(c.Env)-1], "TMPDIR=")
	entries, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, e := range entries {
		if env, err := os.ReadFile(e); err == nil && bytes.Contains(env, []byte(marker+"="+folder)) {
			name, _ := os.ReadFile(filepath.Join(filepath.Dir(e), "cmdline"))
			t.Errorf("still running: %s %s", filepath.Dir(e), bytes.ReplaceAll(name, []byte{0}, []byte{' '}))
		}
	}
}
