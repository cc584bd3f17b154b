package site

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

// write is one compare-and-set. It keeps its id when it is sent again, to distinguish it from another process's write.
type write struct {
	key      string
	value    []byte
	expected uint64 // expected revision; 0 expects no key
	id       string
	started  time.Duration // time of the first sending, by the fence's clock; the server accepted it later
	sent     bool
	unsure   bool // an answer is missing, so the server may have accepted the write
}

// newer reports a refused write: the key has another revision.
type newer struct {
	last uint64 // the actual revision; 0 if there is no key
}

func (n newer) Error() string { return fmt.Sprintf("the key's revision is %d", n.last) }

// put sends w, waits at most within, and returns the revision of w. The error newer is a final refusal; after any other error the server may have accepted w.
func (b *Leases) put(ctx context.Context, w *write, within time.Duration) (revision uint64, err error) {
	if !w.sent {
		w.id, w.started, w.sent = rand.Text(), b.fence(), true
	}
	ctx, done := context.WithTimeout(ctx, within)
	defer done()
	defer func() {
		if err != nil && !errors.As(err, new(newer)) {
			w.unsure = true
		}
	}()
	if b.hinder != nil {
		if err := b.hinder(ctx, w); err != nil {
			return 0, err
		}
	}
	m := &nats.Msg{Subject: "$KV." + b.name + "." + w.key, Data: w.value, Header: nats.Header{}}
	ack, err := b.js.PublishMsg(ctx, m, jetstream.WithMsgID(w.id), jetstream.WithExpectLastSequencePerSubject(w.expected), jetstream.WithRetryAttempts(0))
	if err == nil {
		return ack.Sequence, nil
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence { // the other code, 10164, means that a write is in progress, perhaps this one
		if _, last, ok := strings.Cut(refused.Description, ": "); ok {
			if n, err := strconv.ParseUint(last, 10, 64); err == nil {
				return b.mine(ctx, w, n)
			}
		}
	}
	return 0, err
}

// mine finds out whether the write at revision last is w itself. A single server compares revisions before ids, so it refuses w if it has already accepted
// w. Then the message of that revision has the id of w. The content of a revision never changes, so a late replica gives the same answer.
func (b *Leases) mine(ctx context.Context, w *write, last uint64) (uint64, error) {
	if !w.unsure || last == 0 {
		return 0, newer{last}
	}
	s, err := b.js.Stream(ctx, "KV_"+b.name)
	if err != nil {
		return 0, err
	}
	m, err := s.GetMsg(ctx, last)
	if err != nil { // also if the message has been overwritten, which the next refusal shows
		return 0, err
	}
	if m.Header.Get(jetstream.MsgIDHeader) == w.id {
		return last, nil
	}
	return 0, newer{last}
}
