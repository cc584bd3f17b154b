package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/internal/suite"
)

// trial is a running driftscope process, tested under faults around it.
type trial struct {
	t        *testing.T
	c        *exec.Cmd
	out, log suite.Transcript
}

// begin starts driftscope in folder. The process ends with the test at the latest.
func begin(t *testing.T, folder string, args ...string) *trial {
	t.Helper()
	r := &trial{t: t, c: command(t, folder, args...)}
	r.c.Stdout, r.c.Stderr = &r.out, &r.log
	if err := r.c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.kill)
	return r
}

// kill ends the process at once, so that it writes nothing more.
func (r *trial) kill() {
	if r.c.ProcessState == nil {
		r.c.Process.Kill()
		r.c.Wait() // the error reports the kill
	}
}

// end ends the process as Ctrl-C does, checks that it ends without an error, and returns its output.
func (r *trial) end() string {
	r.t.Helper()
	if err := r.c.Process.Signal(syscall.SIGINT); err != nil {
		r.t.Fatal(err)
	}
	if err := r.c.Wait(); err != nil {
		r.t.Errorf("%v\n%s", err, r.log.String())
	}
	return r.out.String()
}

// says reports whether the process has written text to standard error.
func (r *trial) says(text string) bool { return strings.Contains(r.log.String(), text) }

// until waits for a condition.
func (r *trial) until(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("waited too long for %s:\n%s", what, r.log.String())
		}
	}
}

// dial connects to a server that may become unreachable and return.
func dial(t *testing.T, at string, more ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(at, append(more, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
