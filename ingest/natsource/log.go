package natsource

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
)

const (
	pullMessages = 256      // messages per request
	pullBytes    = 32 << 20 // bytes per request; at least one message of the largest size
	pullFor      = 30 * time.Second

	// silence is half of the time after which a consumer without any server traffic is replaced. A message of 8 MB over 20 Mbit/s takes 3 s.
	silence = 3 * time.Second

	// forgotten is the time for which the server keeps an unused consumer.
	forgotten = time.Minute

	// doubtful is the number of consecutive reports needed to accept that the stream ends before the place already read. A single report may come from a new
	// leader that lags behind.
	doubtful = 8
)

// log reads a stream's messages in order, each once, after a given sequence number, the place. It uses its own consumer, and replaces it if messages are
// missing or the server was away or silent. (The ordered consumer of nats.go works like this, but while the server is away it waits without a limit or a
// context, and it does not report expired messages.)
type log struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	subject string
	keep    Keep

	stream   jetstream.Stream
	made     time.Time // creation of the stream; zero before the first attach
	place    uint64    // of the last message returned
	begun    bool      // place is a message already read, so a gap after it means expired messages
	doubted  int       // consecutive reports that the stream ends before place
	patience patience

	restarted bool   // the stream restarted since the last message
	asked     uint64 // the consumer's count of messages received

	consumer jetstream.Consumer
	messages jetstream.MessagesContext // nil if there is no consumer
	status   chan nats.Status
	watching sync.WaitGroup
}

// message is one message of a stream.
type message struct {
	jetstream.Msg
	place     uint64
	stored    time.Time
	expired   uint64 // expired messages between the last one and this one
	restarted bool   // the stream restarted before it
}

// next waits for a message until ctx ends. Any error other than the context's means that the connection is closed for good.
func (l *log) next(ctx context.Context) (*message, error) {
	var here bus.Stay
	for ctx.Err() == nil {
		if l.messages == nil {
			asking, cancel := l.patience.ask(ctx)
			err := l.attach(asking)
			cancel()
			if err != nil {
				if l.conn.IsClosed() {
					return nil, nats.ErrConnectionClosed
				}
				here.Failed(l.conn)
				pause(ctx, tryAgain)
				continue
			}
			here.Worked()
		}
		m, err := l.messages.Next(jetstream.NextContext(ctx))
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			l.detach()
			continue
		}
		if got, ok := l.follows(m); ok {
			return got, nil
		}
	}
	return nil, ctx.Err()
}

// follows reports whether m is the next message. It drops the consumer if messages were lost in transit.
func (l *log) follows(m jetstream.Msg) (*message, bool) {
	meta, err := m.Metadata()
	if err != nil || meta.Sequence.Consumer != l.asked+1 {
		l.detach()
		return nil, false
	}
	l.asked++
	if meta.Sequence.Stream <= l.place {
		return nil, false
	}
	got := &message{Msg: m, place: meta.Sequence.Stream, stored: meta.Timestamp, restarted: l.restarted}
	if l.begun {
		got.expired = got.place - l.place - 1
	}
	l.place, l.begun, l.restarted = got.place, true, false
	return got, true
}

// attach creates the stream if it is missing, and a consumer that starts after the place. It stops when the context asking ends.
func (l *log) attach(asking context.Context) error {
	if err := l.find(asking); err != nil {
		return err
	}
	var err error
	l.status = l.conn.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	l.consumer, err = l.stream.CreateConsumer(asking, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: l.place + 1, AckPolicy: jetstream.AckNonePolicy,
		InactiveThreshold: forgotten, MemoryStorage: true, Replicas: 1,
	})
	if err == nil {
		l.asked = 0
		l.messages, err = l.consumer.Messages(jetstream.PullMaxMessagesWithBytesLimit(pullMessages, max(pullBytes, int(l.conn.MaxPayload())+1<<16)),
			jetstream.PullExpiry(pullFor), jetstream.PullHeartbeat(silence), jetstream.WithMessagesErrOnMissingHeartbeat(true))
	}
	if err != nil {
		l.conn.RemoveStatusListener(l.status)
		l.status = nil
		return err
	}
	l.patience.answered()
	messages, status := l.messages, l.status
	l.watching.Go(func() {
		if _, lost := <-status; lost {
			messages.Stop() // messages in flight at the disconnect are requested again
		}
	})
	return nil
}

// find waits until the stream can be read after the place, or after a new place that placed has chosen.
func (l *log) find(ctx context.Context) (err error) {
	for {
		if l.stream, err = l.keep.streamOf(ctx, l.js, l.subject); err != nil || l.placed(l.stream.CachedInfo()) {
			return err
		}
		pause(ctx, tryAgain)
	}
}

// placed reports whether the stream can be read after the place, and sets a new place if the stream changed. A recreated stream is read from its beginning. A
// stream that lost its end, for example in a power failure, is read from its new end.
func (l *log) placed(info *jetstream.StreamInfo) bool {
	switch {
	case !l.made.IsZero() && !info.Created.Equal(l.made):
		l.restart(0)
	case l.place <= info.State.LastSeq:
	case l.doubted < doubtful:
		l.doubted++
		return false
	case l.made.IsZero():
		l.restart(0)
	default:
		l.restart(info.State.LastSeq)
	}
	l.made, l.doubted, l.begun = info.Created, 0, l.begun || l.place > 0
	return true
}

// restart continues after a new place.
func (l *log) restart(place uint64) { l.place, l.begun, l.restarted = place, false, true }

// tryAgain is the delay before a retry.
const tryAgain = 250 * time.Millisecond

// detach drops the consumer.
func (l *log) detach() {
	if l.messages == nil {
		return
	}
	l.conn.RemoveStatusListener(l.status)
	l.messages.Stop()
	l.watching.Wait()
	l.messages, l.status = nil, nil
}

// close drops the consumer and deletes it on the server.
func (l *log) close() {
	if l.messages == nil {
		return
	}
	l.detach()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if l.conn.IsConnected() {
		l.stream.DeleteConsumer(ctx, l.consumer.CachedInfo().Name) // otherwise it expires
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
