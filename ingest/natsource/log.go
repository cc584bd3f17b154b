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
	pullMessages = 256      // asked of the server at a time
	pullBytes    = 32 << 20 // the same; a message of the largest at least
	pullFor      = 30 * time.Second

	// silence is half of how long the server may say nothing at all before another consumer is made. A message of 8 MB over 20 Mbit/s takes 3 s.
	silence = 3 * time.Second

	// forgotten is how long the server keeps a consumer that nobody asks.
	forgotten = time.Minute

	// doubtful is how often in a row a stream says that it ends before what was read of it until it is believed: a replica that has just become
	// leader may not have taken in everything yet.
	doubtful = 8
)

// log reads a stream's messages in order, each once, from behind a place. It asks a consumer of its own, which is made again behind the last message
// where messages are missing, the server was away or says nothing. (The ordered consumer of nats.go does the same, but waits without end and
// without a context where the server is away, and does not say what has expired.)
type log struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	subject string
	keep    Keep

	stream   jetstream.Stream
	made     time.Time // when the stream was; zero before the first attach
	place    uint64    // of the last message that was given
	begun    bool      // one was given since the stream began, or before
	doubted  int       // times in a row that the stream ended before place
	patience patience

	restarted bool   // since the last message
	asked     uint64 // the consumer's count of what was received

	consumer jetstream.Consumer
	messages jetstream.MessagesContext // nil where there is no consumer
	status   chan nats.Status
	watching sync.WaitGroup
}

// message is one of a stream.
type message struct {
	jetstream.Msg
	place     uint64
	stored    time.Time
	expired   uint64 // messages between the last and this one that are gone
	restarted bool   // the stream began anew before it
}

// next waits for a message until ctx ends. Another error says that the connection was closed for good.
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

// follows says whether m is the next one, and lets go of a consumer of which messages were lost on the way.
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

// attach makes a consumer behind the place, and the stream where it is gone, within asking.
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
			messages.Stop() // what was on its way when the connection broke is asked for again
		}
	})
	return nil
}

// find asks for the stream until it can be read from the place, or from another.
func (l *log) find(ctx context.Context) (err error) {
	for {
		if l.stream, err = l.keep.streamOf(ctx, l.js, l.subject); err != nil || l.placed(l.stream.CachedInfo()) {
			return err
		}
		pause(ctx, tryAgain)
	}
}

// placed says whether the stream can be read from the place. One that was made again is read from its beginning, and one that has lost its end,
// as after a power failure, from there.
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

// restart reads on behind another place.
func (l *log) restart(place uint64) { l.place, l.begun, l.restarted = place, false, true }

// tryAgain is how long what failed waits before it is tried again.
const tryAgain = 250 * time.Millisecond

// detach lets go of the consumer.
func (l *log) detach() {
	if l.messages == nil {
		return
	}
	l.conn.RemoveStatusListener(l.status)
	l.messages.Stop()
	l.watching.Wait()
	l.messages, l.status = nil, nil
}

// close lets go of the consumer, and has the server forget it.
func (l *log) close() {
	if l.messages == nil {
		return
	}
	l.detach()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if l.conn.IsConnected() {
		l.stream.DeleteConsumer(ctx, l.consumer.CachedInfo().Name) // one that is not deleted is forgotten
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
