package bus

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
)

// TestToldByKind: the limit applies per kind of fault. Three thousand refusals, each of another subject, give one line; a fault of another kind is reported at
// once.
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

// TestSeldom: the first fault of a kind is due at once, later ones once per interval with the number in between. All kinds beyond mostKinds count as one.
func TestSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Seldom
		for i := range 90 {
			before, due := s.Due("full")
			if due != (i%30 == 0) || due && i > 0 && before != 29 {
				t.Errorf("after %d s: due %v, %d before", i, due, before)
			}
			time.Sleep(time.Second)
		}
		s.News()
		told := 0
		for i := range 1000 {
			if _, due := s.Due(fmt.Sprint(i)); due {
				told++
			}
		}
		if told != mostKinds+1 {
			t.Errorf("of a thousand kinds %d were told, expected %d", told, mostKinds+1)
		}
	})
}
