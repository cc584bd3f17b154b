package stream

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/config"
)

// TestDashboardServerAway: the connection waits for a server that accepts but never answers; requests to the dashboard do not.
func TestDashboardServerAway(t *testing.T) {
	server, err := bus.Connect(t.Context(), bus.Options{URL: bus.Embedded})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := bus.Connect(t.Context(), bus.Options{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	cfg := config.Config{NATS: config.NATS{Prefix: bus.DefaultPrefix}, Dashboard: config.Dashboard{Address: "127.0.0.1:0"}}
	shown, err := ShowDashboard(cfg, conn, NewMetrics(conn))
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", strings.TrimPrefix(server.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for path, want := range map[string]int{"healthz": http.StatusServiceUnavailable, "metrics": http.StatusOK} {
		tried, err := silent.Accept() // from now on the connection waits 2 s for its greeting
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		answer, err := http.Get(shown.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if took := time.Since(start); answer.StatusCode != want || took > time.Second { // half of that wait; even on a busy machine an answer takes milliseconds
			t.Errorf("/%s: found %s after %v, expected %d at once", path, answer.Status, took, want)
		}
		tried.Close()
	}
}
