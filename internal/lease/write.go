package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// write is one compare-and-set. It keeps its id when it is sent again, so that the server accepts it once.
type write struct {
	key      string
	value    []byte
	expected uint64 // revision; 0: no key
	id       string
	started  time.Duration // when it was first sent, by the fence's clock; what was accepted was accepted later
	sent     bool
}

// newer is why a write was refused: the key has another revision.
type newer struct {
	last uint64 // that revision; 0: no key
}

func (n newer) Error() string { return fmt.Sprintf("the key's revision is %d", n.last) }

// put sends w, waits for at most so long, and gives the revision that it has. A newer refuses it for good; after any other error it may have been accepted.
func (b *Bucket) put(ctx context.Context, w *write, within time.Duration) (revision uint64, err error) {
	if !w.sent {
		w.id, w.started, w.sent = rand.Text(), b.fence(), true
	}
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	if b.hinder != nil {
		if err := b.hinder(ctx, w); err != nil {
			return 0, err
		}
	}
	m := &nats.Msg{Subject: "$KV." + b.o.Bucket + "." + w.key, Data: w.value, Header: nats.Header{}}
	ack, err := b.js.PublishMsg(ctx, m, jetstream.WithMsgID(w.id), jetstream.WithExpectLastSequencePerSubject(w.expected), jetstream.WithRetryAttempts(0))
	if err == nil {
		return ack.Sequence, nil
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence { // 10164, the other one, says that a write is on its way: perhaps this one
		if _, last, ok := strings.Cut(refused.Description, ": "); ok {
			if n, err := strconv.ParseUint(last, 10, 64); err == nil {
				return 0, newer{n}
			}
		}
	}
	return 0, err
}
