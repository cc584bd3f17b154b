package main

import (
	"testing"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus/bustest"
)

// TestUnanswered: a server that is reachable but does not answer requests about its storage in time, such as after its start, is not a
// configuration error. Here a subscriber receives the requests and never answers.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	server := bustest.Start(t, "")
	nc := dial(t, server.URL())
	if _, err := nc.Subscribe("$JS.API.>", func(*nats.Msg) {}); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	written(t, folder, map[string]string{"bead.yaml": "stream: bead\nsource: {sim: {name: molecule}}\nnats: {url: '" + server.URL() + "', durable: true, store: store}\n"})
	drive(t, folder, "run", "bead.yaml", "--frames", "5").check(t, 1, "did not answer within 5s")
}
