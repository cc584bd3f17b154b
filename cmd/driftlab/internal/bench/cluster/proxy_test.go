package cluster

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestWay: what is sent while the way is cut comes once it is mended, on the same connection, and new connections wait.
func TestWay(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); io.Copy(c, c) }()
		}
	}()
	w, err := newWay([]string{echo.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	defer w.close()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.addresses()[0], "nats://"))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	said := func(c net.Conn, text string, within time.Duration) string {
		c.Write([]byte(text))
		c.SetReadDeadline(time.Now().Add(within))
		answer := make([]byte, 16)
		n, err := c.Read(answer)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		return string(answer[:n])
	}
	old := dial()
	defer old.Close()
	if got := said(old, "one", 10*time.Second); got != "one" {
		t.Fatalf("found %q", got)
	}
	w.cut(true)
	young := dial()
	defer young.Close()
	for _, c := range []net.Conn{old, young} {
		if got := said(c, "two", 100*time.Millisecond); got != "" {
			t.Errorf("%q came through a cut way", got)
		}
	}
	w.cut(false)
	for _, c := range []net.Conn{old, young} {
		if got := said(c, "", 10*time.Second); got != "two" {
			t.Errorf("found %q once the way was mended", got)
		}
	}
}

// TestRefused: what cannot be measured is refused before anything starts.
func TestRefused(t *testing.T) {
	right := Command{Study: "faults", Trials: 1, Faults: []string{faultKill}, Workers: 2, Streams: 1, FPS: 1, Replicas: 3, TTL: 5 * time.Second, For: time.Minute}
	if err := right.check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Command){
		"--faults":       func(c *Command) { c.Faults = []string{"fire"} },
		"--trials":       func(c *Command) { c.Trials = 0 },
		"--workers":      func(c *Command) { c.Workers = 1 },
		"--fps":          func(c *Command) { c.FPS = 0 },
		"--replicas":     func(c *Command) { c.Replicas = 2 },
		"--ttl":          func(c *Command) { c.TTL = time.Millisecond },
		"--for":          func(c *Command) { c.For = 0 },
		"--replicas 1: ": func(c *Command) { c.Replicas, c.Faults = 1, []string{faultMeta} },
	} {
		wrong := right
		change(&wrong)
		if err := wrong.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
