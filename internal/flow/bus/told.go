package bus

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// tellEvery is the shortest interval between reports of one kind of fault. A refused connection retries four times a second, and a client that may send
// requests can cause refusals with ever new texts.
const tellEvery = 30 * time.Second

// mostKinds is the largest number of kinds of faults that are reported separately; all further kinds count as one.
const mostKinds = 64

// Seldom limits the reports of a lasting fault to one per Every (default 30 s). The zero value is ready to use. Any goroutine may use it.
type Seldom struct {
	Every time.Duration

	mu    sync.Mutex
	kinds map[string]*telling
}

// telling is the time of the last report of a kind of fault, and the number of faults since.
type telling struct {
	last time.Time
	more uint64
}

// Due counts a fault. It returns whether the fault must be reported now, and the number of unreported faults of its kind before it.
func (s *Seldom) Due(kind string) (before uint64, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kinds[kind] == nil && len(s.kinds) >= mostKinds {
		kind = ""
	}
	k, now := s.kinds[kind], time.Now()
	if k != nil && now.Sub(k.last) < cmp.Or(s.Every, tellEvery) {
		k.more++
		return 0, false
	}
	if s.kinds == nil {
		s.kinds = map[string]*telling{}
	}
	if k != nil {
		before = k.more
	}
	s.kinds[kind] = &telling{last: now}
	return before, true
}

// News makes the next fault of any kind due.
func (s *Seldom) News() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kinds = nil
}

// Warnings returns a logger that writes warnings and errors to standard error.
func Warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// told logs connection faults, each kind at a limited rate.
type told struct {
	log *slog.Logger
	url string
	Seldom
}

// sentinels are the faults that nats.go distinguishes.
var sentinels = []error{
	nats.ErrPermissionViolation, nats.ErrSlowConsumer, nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrMaxConnectionsExceeded,
	nats.ErrMaxAccountConnectionsExceeded, nats.ErrMaxSubscriptionsExceeded, nats.ErrStaleConnection, nats.ErrMaxPayload, nats.ErrNoServers,
}

// kindOf returns the kind of a fault, independent of its text.
func kindOf(err error) string {
	for _, s := range sentinels {
		if errors.Is(err, s) {
			return s.Error()
		}
	}
	return fmt.Sprintf("%T", err)
}

func (t *told) warn(what string, err error) {
	if before, due := t.Due(what + ": " + kindOf(err)); due {
		t.log.Warn(what, "url", t.url, "err", err, "before", before)
	}
}

// back logs that the server is back, and makes the next fault of any kind due.
func (t *told) back() {
	t.News()
	t.log.Info("the NATS server is back", "url", t.url)
}
