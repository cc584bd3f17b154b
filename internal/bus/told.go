package bus

import (
	"log/slog"
	"sync"
	"time"
)

// tellEvery is how often one fault is logged while it lasts: a refused connection is tried four times a second.
const tellEvery = 30 * time.Second

// told logs what hinders a connection, the same fault not too often.
type told struct {
	log *slog.Logger
	url string

	mu   sync.Mutex
	text string
	last time.Time
}

func (t *told) warn(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := err.Error(); text != t.text || time.Since(t.last) >= tellEvery {
		t.text, t.last = text, time.Now()
		t.log.Warn(what, "url", t.url, "err", err)
	}
}

// back logs that the server is there again; the next fault is news.
func (t *told) back() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = ""
	t.log.Info("the NATS server is back", "url", t.url)
}
