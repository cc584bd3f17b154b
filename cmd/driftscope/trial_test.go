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

// trial is driftscope under way, put to the test by what happens around it.
type trial struct {
	t        *testing.T
	c        *exec.Cmd
	out, log suite.Transcript
}

// begin starts driftscope in folder; it ends with the test at the latest.
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

// kill ends it as nothing else does: at once, with nothing written any more.
func (r *trial) kill() {
	if r.c.ProcessState == nil {
		r.c.Process.Kill()
		r.c.Wait() // its error is that it was killed
	}
}

// end ends it as Ctrl-C does, wants it to end well, and returns its account.
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

// says tells whether text stands in what it has written to standard error.
func (r *trial) says(text string) bool { return strings.Contains(r.log.String(), text) }

// until waits for what the test expects of it.
func (r *trial) until(what string, ok func() bool) {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.t.Fatalf("waited too long for %s:\n%s", what, r.log.String())
		}
	}
}

// dial connects to a server that may go away and come back.
func dial(t *testing.T, at string, more ...nats.Option) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect(at, append(more, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}
