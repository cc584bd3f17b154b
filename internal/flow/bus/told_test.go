package bus

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
)

// TestToldByKind: faults are limited by what they are. Three thousand refusals, each with a subject of its own, are one line; another kind is news.
func TestToldByKind(t *testing.T) {
	var log bytes.Buffer
	said := &told{log: slog.New(slog.NewTextHandler(&log, nil)), url: "nats://scope"}
	for i := range 3000 {
		said.warn("NATS", fmt.Errorf("%w for publish to \"victim.%d\"", nats.ErrPermissionViolation, i))
		said.warn("NATS", fmt.Errorf("%w on %d", nats.ErrSlowConsumer, i))
		said.warn("the server is away", errors.New(fmt.Sprint("no route ", i)))
	}
	if lines := strings.Count(log.String(), "\n"); lines != 3 {
		t.Errorf("found %d lines, expected one a kind:\n%.2000s", lines, log.String())
	}
	said.back()
	said.warn("NATS", fmt.Errorf("%w for publish to \"victim\"", nats.ErrPermissionViolation))
	if text := log.String(); !strings.HasSuffix(text, "before=0\n") || strings.Count(text, "\n") != 5 {
		t.Errorf("after the server was back a fault is no news:\n%s", text)
	}
}
