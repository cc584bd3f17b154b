// Package bustest runs the real nats-server for a test, in a separate process that the test can kill, freeze and disconnect.
package bustest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"driftscope/internal/suite"
)

const starting = 20 * time.Second // time until the server accepts connections, on a busy machine

// Server is a nats-server of the version in go.mod. Its methods fail the test instead of returning an error.
type Server struct {
	t       testing.TB
	binary  string
	args    []string
	port    int
	log     string // file
	process *exec.Cmd
}

// Start runs a server on a free port of 127.0.0.1 until the test ends. configuration is the text of its configuration file.
func Start(t testing.TB, configuration string) *Server {
	t.Helper()
	s := &Server{t: t, binary: build(t), port: FreePort(t), log: filepath.Join(t.TempDir(), "nats-server.log")}
	file := filepath.Join(t.TempDir(), "nats-server.conf")
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	s.args = []string{"-c", file, "-a", "127.0.0.1", "-p", fmt.Sprint(s.port), "-l", s.log}
	t.Cleanup(func() {
		s.Kill()
		if t.Failed() {
			text, _ := os.ReadFile(s.log)
			t.Logf("the server's log:\n%s", bytes.TrimSpace(text))
		}
	})
	s.Run()
	return s
}

// Port returns the server's port, which stays the same after Kill and Run.
func (s *Server) Port() int { return s.port }

// URL returns the server's address.
func (s *Server) URL() string { return fmt.Sprintf("nats://127.0.0.1:%d", s.port) }

// Log returns the log of all runs of the server.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		s.t.Error(err)
	}
	return string(text)
}

// Run starts the server again, and returns once it accepts connections.
func (s *Server) Run() {
	s.t.Helper()
	process, err := started(s.binary, s.args)
	if err != nil {
		s.t.Fatal(err)
	}
	s.process = process
	address := fmt.Sprintf("127.0.0.1:%d", s.port)
	for end := time.Now().Add(starting); ; time.Sleep(10 * time.Millisecond) {
		err := greeted(address)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("nats-server greeted nobody on %s within %v: %v", address, starting, err)
		}
	}
}

// started starts a program. It retries while the binary is busy: a process forked meanwhile may still have the file open (golang.org/issue/22315).
func started(binary string, args []string) (*exec.Cmd, error) {
	for end := time.Now().Add(starting); ; time.Sleep(10 * time.Millisecond) {
		process := exec.Command(binary, args...)
		if err := process.Start(); !errors.Is(err, syscall.ETXTBSY) || time.Now().After(end) {
			return process, err
		}
	}
}

// greeted connects and waits for the first word of a NATS server. A connection alone is no proof: on a port without a listener, the system may connect a socket
// to itself.
func greeted(address string) error {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Second))
	word := make([]byte, len("INFO"))
	if _, err := io.ReadFull(c, word); err != nil {
		return err
	}
	if string(word) != "INFO" {
		return fmt.Errorf("it says %q", word)
	}
	return nil
}

// Kill ends the server like a crash. It does nothing if the server has ended.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	s.process.Process.Kill()
	s.process.Wait() // the error only reports the kill
	s.process = nil
}

// Freeze stops the server's process. Its connections stay open.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw continues a frozen server.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(what syscall.Signal) {
	s.t.Helper()
	if err := s.process.Process.Signal(what); err != nil {
		s.t.Fatal(err)
	}
}

// build returns the path of nats-server in go's build cache, and builds it if necessary.
func build(t testing.TB) string {
	t.Helper()
	command := exec.Command("go", "tool", "-n", "nats-server")
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go tool nats-server: %v\n%s", err, problems.String())
	}
	return strings.TrimSpace(string(out))
}

// FreePort returns a port without a listener. No other test gets the same port while this test runs.
func FreePort(t testing.TB) int {
	t.Helper()
	var ports suite.ReservedPorts
	number, err := ports.Next()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(ports.Close)
	return number
}
