package suite

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// echoed returns a link to an echo server, and a function that connects through the link.
func echoed(t *testing.T) (*Link, func() net.Conn) {
	t.Helper()
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
	l, err := NewLink(echo.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); echo.Close() })
	return l, func() net.Conn {
		c, err := net.Dial("tcp", l.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
}

// said sends a text, and returns the bytes that arrive within the given time.
func said(t *testing.T, c net.Conn, text string, within time.Duration) string {
	t.Helper()
	c.Write([]byte(text))
	c.SetReadDeadline(time.Now().Add(within))
	answer := make([]byte, 16)
	n, err := c.Read(answer)
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatal(err)
	}
	return string(answer[:n])
}

// TestHeld: bytes sent while the link is held arrive on the same connection once the link works again, and new connections wait.
func TestHeld(t *testing.T) {
	w, dial := echoed(t)
	old := dial()
	if got := said(t, old, "one", 10*time.Second); got != "one" {
		t.Fatalf("found %q", got)
	}
	w.Turn(Held)
	young := dial()
	for _, c := range []net.Conn{old, young} {
		if got := said(t, c, "two", 100*time.Millisecond); got != "" {
			t.Errorf("%q came through a cut way", got)
		}
	}
	w.Turn(Whole)
	for _, c := range []net.Conn{old, young} {
		if got := said(t, c, "", 10*time.Second); got != "two" {
			t.Errorf("found %q once the way was mended", got)
		}
	}
}

// TestWays: a cut link closes its connections and refuses new ones. A lost link keeps its connections, which stay dead.
func TestWays(t *testing.T) {
	for way, stays := range map[Way]bool{Cut: false, Lost: true} {
		l, dial := echoed(t)
		old := dial()
		if got := said(t, old, "one", 10*time.Second); got != "one" {
			t.Fatalf("found %q", got)
		}
		l.Turn(way)
		old.Write([]byte("two"))
		old.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		if _, err := old.Read(make([]byte, 16)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) != stays {
			t.Errorf("way %d: an old connection: %v, it stays: %v", way, err, stays)
		}
		refused := dial()
		refused.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := refused.Read(make([]byte, 16)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("way %d: a new connection: %v, expected that it is refused", way, err)
		}
		l.Turn(Whole)
		if got := said(t, dial(), "three", 10*time.Second); got != "three" {
			t.Errorf("way %d: found %q once the link was whole", way, got)
		}
		if stays {
			if got := said(t, old, "four", 100*time.Millisecond); got != "" {
				t.Errorf("%q came over a connection that was lost", got)
			}
		}
	}
}
