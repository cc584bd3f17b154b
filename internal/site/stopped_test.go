package site

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
)

// workerVariable is the environment variable with the server's address in a process that this test starts from its own binary.
const workerVariable = "DRIFTSCOPE_TEST_LEASE"

// isWorker reports whether this is that process. If so, it claims a lease and prints twice per millisecond whether the lease is valid.
func isWorker() bool {
	url := os.Getenv(workerVariable)
	if url == "" {
		return false
	}
	c, err := bus.Connect(context.Background(), bus.Options{URL: url})
	if err != nil {
		panic(err)
	}
	js, err := jetstream.New(c.NATS())
	if err != nil {
		panic(err)
	}
	o := Options{Worker: "stopped", TTL: time.Second}
	if err := o.check(); err != nil {
		panic(err)
	}
	b, err := openLeases(context.Background(), js, "leases", o, writes)
	if err != nil {
		panic(err)
	}
	h, err := b.Await(context.Background(), "bead", 0)
	if err != nil {
		panic(err)
	}
	for {
		fmt.Println(h.Valid(), h.Epoch())
		time.Sleep(500 * time.Microsecond)
	}
}

// TestStopped: a process that the system stops for three TTLs finds its lease invalid at the first check, although no code of it ran in between.
func TestStopped(t *testing.T) {
	conn := embedded(t)
	js := jetStream(t, conn)
	b := worker(t, js, "b")
	p := exec.Command(os.Args[0])
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.Env = append(os.Environ(), workerVariable+"="+conn.URL())
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { p.Process.Kill(); p.Wait() }()
	lines := make(chan string, 1<<20)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	first := <-lines
	if !strings.HasPrefix(first, "true ") {
		t.Fatalf("the process says %q", first)
	}
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	h := awaited(t, b, "bead", 0)
	time.Sleep(time.Second)
	for len(lines) > 0 { // lines from before the stop; one may still be on its way
		<-lines
	}
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	said := 0
	for len(lines) > 0 {
		if line := <-lines; !strings.HasPrefix(line, "false ") && said > 0 { // the first may be from a check before the stop
			t.Errorf("the process that was stopped says %q, while %d holds", line, h.Epoch())
		}
		said++
	}
	if said < 2 || !h.Valid() {
		t.Errorf("it said %d lines; the other's lease is valid: %v", said, h.Valid())
	}
}
