package main

import (
	"testing"

	"github.com/nats-io/nats.go"

	"driftscope/internal/flow/bus/bustest"
)

// TestUnanswered: a server that is there and does not say in time what it keeps, as one that has just been started, is no mistake of the
// configuration. Its subscriber here takes the questions and gives no answer.
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
