package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus/bustest"
)

// TestWorkWithoutUsers: a worker on a server without users warns once and works. On a server with users it does not warn.
func TestWorkWithoutUsers(t *testing.T) {
	for users, warnings := range map[string]int{"": 1, "authorization {users: [{user: worker, password: p1}]}\n": 0} {
		at := bustest.Start(t, fmt.Sprintf("jetstream {store_dir: %q}\n%s", t.TempDir(), users)).URL()
		if users != "" {
			at = strings.Replace(at, "nats://", "nats://worker:p1@", 1)
		}
		c := command(t, t.TempDir(), "work", "--nats", at, "--name", "hall-1", "--ttl", "1s", "--store", t.TempDir())
		path := t.TempDir() + "/said"
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		c.Stdout, c.Stderr = out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		said := func() string {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		for end := time.Now().Add(time.Minute); !strings.Contains(said(), "worker hall-1 of site local"); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the worker does not begin:\n%s", said())
			}
		}
		c.Process.Signal(os.Interrupt)
		if err := c.Wait(); err != nil {
			t.Errorf("%v\n%s", err, said())
		}
		if n := strings.Count(said(), "has no user accounts"); n != warnings {
			t.Errorf("%q: found %d warnings, expected %d:\n%s", users, n, warnings, said())
		}
	}
}
