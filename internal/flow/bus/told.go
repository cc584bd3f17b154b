package bus

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// tellEvery is how often one kind of fault is logged while it lasts: a refused connection is tried four times a second, and whoever may send
// requests can cause a refusal with another text each.
const tellEvery = 30 * time.Second

// Warnings is a logger that writes warnings and errors to standard error.
func Warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// told logs what hinders a connection, each kind of fault not too often.
type told struct {
	log *slog.Logger
	url string

	mu    sync.Mutex
	kinds map[string]*telling
}

// telling is when a kind of fault was logged last, and how often it has come since.
type telling struct {
	last time.Time
	more uint64
}

// sentinels are the faults that nats.go tells apart.
var sentinels = []error{
	nats.ErrPermissionViolation, nats.ErrSlowConsumer, nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrMaxConnectionsExceeded,
	nats.ErrMaxAccountConnectionsExceeded, nats.ErrMaxSubscriptionsExceeded, nats.ErrStaleConnection, nats.ErrMaxPayload, nats.ErrNoServers,
}

// kindOf names a fault by what it is, whatever its text says.
func kindOf(err error) string {
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return s.Error()
		}
	}
	return fmt.Sprintf("%T", err)
}

func (t *told) warn(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kind := what + ": " + kindOf(err)
	k := t.kinds[kind]
	if k == nil {
		k = &telling{}
		if t.kinds == nil {
			t.kinds = map[string]*telling{}
		}
		t.kinds[kind] = k
	}
	if now := time.Now(); k.last.IsZero() || now.Sub(k.last) >= tellEvery {
		t.log.Warn(what, "url", t.url, "err", err, "before", k.more)
		k.last, k.more = now, 0
		return
	}
	k.more++
}

// back logs that the server is there again; the next fault of any kind is news.
func (t *told) back() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kinds = nil
	t.log.Info("the NATS server is back", "url", t.url)
}
