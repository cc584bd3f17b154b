package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"driftscope/internal/flow/bus/bustest"
)

// TestServeRefused: a server that other machines can reach needs users, and every mistake is reported before anything runs.
func TestServeRefused(t *testing.T) {
	for want, o := range map[string]Site{
		"--listen: found \"0.0.0.0\", which other machines can reach":             {Listen: "0.0.0.0:4222"},
		"--websocket: without users, a page of any web site could use the server": {Listen: "127.0.0.1:4222", WebSocket: "127.0.0.1:8080"},
		"--listen: found \"4222\", expected HOST:PORT":                            {Listen: "4222"},
		"--listen: found \"127.0.0.1:0\"":                                         {Listen: "127.0.0.1:0"},
		"configuration":                                                           {Listen: "0.0.0.0:4222", Accounts: "A { users: ["},
		"--store":                                                                 {Listen: "127.0.0.1:4222", Store: "/dev/null/store"},
	} {
		err := Serve(t.Context(), o, func() { t.Error("it runs") })
		if err == nil || !errors.Is(err, ErrOptions) || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}

// TestServe: the server stores streams, and ends with its context.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o := Site{Listen: fmt.Sprintf("127.0.0.1:%d", bustest.FreePort(t)), Store: t.TempDir()}
	served := make(chan error, 1)
	up := make(chan struct{})
	go func() { served <- Serve(ctx, o, func() { close(up) }) }()
	select {
	case <-up:
	case err := <-served:
		t.Fatal(err)
	}
	if err := Serve(t.Context(), Site{Listen: o.Listen, Store: t.TempDir()}, func() {}); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second server on the port: %v", err)
	}
	c, err := Connect(t.Context(), Options{URL: "nats://" + o.Listen})
	if err != nil {
		t.Fatal(err)
	}
	if c.NATS().MaxPayload() != maxPayload {
		t.Errorf("it takes %d bytes", c.NATS().MaxPayload())
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
