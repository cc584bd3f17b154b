package bus

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus/bustest"
)

// TestStalledSubscribers: twenty connections accept nothing, accept a byte now and then, or never authenticate. No other client loses a message, the program
// keeps its connection, and the server uses no more memory than its limit per connection.
func TestStalledSubscribers(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) Options{
		"embedded": func(*testing.T) Options { return Options{URL: Embedded} },
		"external": func(t *testing.T) Options { return Options{URL: bustest.Start(t, limits(t)).URL()} },
	} {
		t.Run(name, func(t *testing.T) {
			c := connect(t, open(t))
			address := strings.TrimPrefix(c.URL(), "nats://")
			const stalled, messages, size = 20, 72, 1 << 20
			for i := range stalled {
				if c := stall(t, address, i%3 < 2); i%3 == 1 {
					go sip(c)
				}
			}
			healthy := connect(t, Options{URL: c.URL()})
			taken, err := healthy.NATS().SubscribeSync("driftscope.>")
			if err != nil {
				t.Fatal(err)
			}
			if err := taken.SetPendingLimits(messages+1, 2*messages*size); err != nil {
				t.Fatal(err)
			}
			if err := healthy.NATS().Flush(); err != nil {
				t.Fatal(err)
			}
			before := inUse()
			most := before
			for i := range messages {
				if err := c.NATS().Publish("driftscope.local.bead.view", append(fmt.Appendf(nil, "%03d", i), make([]byte, size)...)); err != nil {
					t.Fatalf("message %d: %v", i, err)
				}
				most = max(most, inUse())
			}
			for i := range messages {
				m, err := taken.NextMsg(10 * time.Second)
				if err != nil || string(m.Data[:3]) != fmt.Sprintf("%03d", i) {
					t.Fatalf("message %d of %d: found %v", i, messages, err)
				}
				most = max(most, inUse())
			}
			if n := c.NATS().Stats().Reconnects; n != 0 || !c.Connected() {
				t.Errorf("the program lost its own connection %d times", n)
			}
			// The memory if no client were disconnected, plus three times the messages, which wait for the healthy client.
			if limit := uint64(stalled*messages*size + 3*messages*size); name == "embedded" && most-before > limit {
				t.Errorf("%d MiB were in use at most, expected at most %d", (most-before)>>20, limit>>20)
			}
			t.Logf("%d MiB in use at most", (most-before)>>20)
		})
	}
}

// limits returns the limits in the shipped configuration, without its accounts.
func limits(t *testing.T) string {
	t.Helper()
	shipped, err := os.ReadFile("../../../configs/nats-server.conf")
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(shipped)) {
		for _, key := range []string{"max_", "write_"} {
			if strings.HasPrefix(line, key) {
				kept = append(kept, line)
			}
		}
	}
	if len(kept) != 5 {
		t.Fatalf("found %d limits, expected 5", len(kept))
	}
	return strings.Join(kept, "")
}

// sip reads a byte ten times a second until its connection ends.
func sip(c net.Conn) {
	for one := make([]byte, 1); ; time.Sleep(100 * time.Millisecond) {
		if _, err := c.Read(one); err != nil {
			return
		}
	}
}

// stall connects, subscribes to everything if asked to, and reads nothing.
func stall(t *testing.T, address string, subscribes bool) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.(*net.TCPConn).SetReadBuffer(4096)
	if !subscribes {
		return c
	}
	if _, err := c.Write([]byte("CONNECT {\"verbose\":false}\r\nSUB driftscope.> 1\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	answered := make([]byte, 4096)
	for text := ""; !strings.Contains(text, "PONG"); {
		n, err := c.Read(answered)
		if err != nil {
			t.Fatal(err)
		}
		text += string(answered[:n])
	}
	return c
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// TestConnectionLimit: the server refuses one connection too many, and the others continue.
func TestConnectionLimit(t *testing.T) {
	c := connect(t, Options{URL: Embedded})
	address := strings.TrimPrefix(c.URL(), "nats://")
	refused := 0
	for range maxConnections + 10 {
		k, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		k.SetDeadline(time.Now().Add(10 * time.Second))
		k.Write([]byte("CONNECT {\"verbose\":false}\r\nPING\r\n")) // a refused connection may be closed already
		answered := make([]byte, 4096)
		for text := ""; !strings.Contains(text, "PONG"); {
			n, err := k.Read(answered)
			if text += string(answered[:n]); err != nil {
				refused++
				break
			}
		}
	}
	if refused < 10 {
		t.Errorf("%d connections were refused, expected at least 10", refused)
	}
	if err := c.NATS().Flush(); err != nil || !c.Connected() {
		t.Errorf("the program's own connection: %v", err)
	}
}

// TestStoreLimit: JetStream on the embedded server never exceeds its size limit, for any client.
func TestStoreLimit(t *testing.T) {
	c := connect(t, Options{URL: Embedded, Store: t.TempDir(), StoreMost: 1 << 20})
	js, err := jetstream.New(c.NATS())
	if err != nil {
		t.Fatal(err)
	}
	for storage, name := range map[jetstream.StorageType]string{jetstream.FileStorage: "files", jetstream.MemoryStorage: "memory"} {
		config := jetstream.StreamConfig{Name: name, Subjects: []string{name}, Storage: storage}
		if _, err := js.CreateStream(t.Context(), config); err != nil {
			t.Fatal(err)
		}
		stored, limit := 0, 1<<20
		if storage == jetstream.MemoryStorage {
			limit = mostMemory
		}
		for piece := make([]byte, 256<<10); stored <= limit; stored += len(piece) {
			if _, err := js.Publish(t.Context(), name, piece); err != nil {
				break
			}
		}
		if stored > limit {
			t.Errorf("%s: %d bytes were stored, expected at most %d", name, stored, limit)
		}
	}
}
