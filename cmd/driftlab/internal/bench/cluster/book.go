package cluster

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// book records a stream's results as they arrive.
type book struct {
	stream  string
	subject bus.Subject

	mu      sync.Mutex
	read    uint64 // sequence of the last message
	next    uint64 // frame
	results uint64
	lost    uint64 // frames without a result before a later one with a result
	doubled uint64 // repeated or late results
	fell    uint64 // times that the epoch decreased
	dropped uint64 // frames that the stream reports as lost
	tenures []tenure
	last    time.Time // server time of the last result
	longest time.Duration
	law     *message.SDERecord
	odd     []string // first problems, for people
}

// tenure holds the results of one epoch.
type tenure struct {
	epoch uint64
	first uint64    // frame
	at    time.Time // server time of the first result
}

// mostOdd bounds the problems reported per stream.
const mostOdd = 8

// follow reads from the stream's beginning until ctx ends.
func (b *book) follow(ctx context.Context, js jetstream.JetStream) {
	for ctx.Err() == nil {
		if err := b.session(ctx, js); err != nil {
			pause(ctx, 200*time.Millisecond)
		}
	}
}

// session continues after the last message read.
func (b *book) session(ctx context.Context, js jetstream.JetStream) error {
	kinds := []string{b.subject.Of("kept." + string(latent.KindLatent)), b.subject.Of("kept." + string(latent.KindSDE))}
	c, err := js.OrderedConsumer(ctx, b.subject.Name(), jetstream.OrderedConsumerConfig{FilterSubjects: kinds, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: b.at() + 1})
	if err != nil {
		return err
	}
	all, err := c.Messages()
	if err != nil {
		return err
	}
	defer all.Stop()
	defer context.AfterFunc(ctx, all.Stop)()
	for {
		m, err := all.Next()
		if err != nil {
			return err
		}
		if err := b.take(m); err != nil {
			b.mu.Lock()
			b.wrong("%v", err)
			b.mu.Unlock()
		}
	}
}

// at returns the sequence of the last message read.
func (b *book) at() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.read
}

// take records one message.
func (b *book) take(m jetstream.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	kind := latent.KindLatent
	if m.Subject() != b.subject.Of("kept."+string(kind)) {
		kind = latent.KindSDE
	}
	record, err := message.Decode(kind, m.Data())
	if err != nil {
		return fmt.Errorf("message %d: %w", meta.Sequence.Stream, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if meta.Sequence.Stream <= b.read {
		return nil // a restarted ordered consumer
	}
	b.read = meta.Sequence.Stream
	switch r := record.(type) {
	case *message.SDERecord:
		b.law = r
	case *message.LatentRecord:
		b.result(r, meta.Timestamp)
	}
	return nil
}

// result records one result. The caller holds the lock.
func (b *book) result(r *message.LatentRecord, at time.Time) {
	b.results++
	b.dropped += r.Dropped
	switch {
	case r.Seq < b.next:
		b.doubled++
		b.wrong("frame %d again, at epoch %d, expected frame %d", r.Seq, r.Epoch, b.next)
	case r.Seq > b.next:
		b.lost += r.Seq - b.next
		b.wrong("frame %d, at epoch %d, expected frame %d", r.Seq, r.Epoch, b.next)
	}
	b.next = max(b.next, r.Seq+1)
	switch n := len(b.tenures); {
	case n == 0 || r.Epoch > b.tenures[n-1].epoch:
		b.tenures = append(b.tenures, tenure{r.Epoch, r.Seq, at})
	case r.Epoch < b.tenures[n-1].epoch:
		b.fell++
		b.wrong("frame %d has epoch %d after %d", r.Seq, r.Epoch, b.tenures[n-1].epoch)
	}
	if !b.last.IsZero() {
		b.longest = max(b.longest, at.Sub(b.last))
	}
	b.last = at
}

// wrong records a problem. The caller holds the lock.
func (b *book) wrong(format string, args ...any) {
	if len(b.odd) < mostOdd {
		b.odd = append(b.odd, b.stream+": "+fmt.Sprintf(format, args...))
	}
}

// mark restarts the longest pause.
func (b *book) mark() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.longest = 0
}

// stand is a copy of a book's counts at one moment.
type stand struct {
	next    uint64
	moves   int // changes of epoch
	epoch   uint64
	last    time.Time
	longest time.Duration // pause between two results since mark
}

func (b *book) stand() (s stand) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s = stand{next: b.next, moves: max(len(b.tenures)-1, 0), last: b.last, longest: b.longest}
	if n := len(b.tenures); n > 0 {
		s.epoch = b.tenures[n-1].epoch
	}
	return s
}

// after returns when the first result of a greater epoch was stored; ok is false before that.
func (b *book) after(epoch uint64) (at time.Time, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range b.tenures {
		if t.epoch > epoch {
			return t.at, true
		}
	}
	return at, false
}
