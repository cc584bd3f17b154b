package natsource

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
)

// Bounds on the unconfirmed messages of a publisher. A single frame may exceed them.
const (
	windowBytes    = 32 << 20
	windowMessages = 4096
)

// DurablePublisher stores frames in JetStream, each once and in order, even if servers fail. A frame waits in a window in memory until the server has confirmed
// all its messages. Call Publish, Finish and Close from one goroutine.
//
// A store.Sender sends the whole window at once. After a failure the publisher requests the stream's last message, finds it in the window and continues after
// it. It recognises messages by their ID, Nats-Msg-Id, which the server also uses to reject duplicates.
type DurablePublisher struct {
	conn    *bus.Conn
	coder   coder
	subject string
	keep    Keep
	js      jetstream.JetStream
	warn    func(format string, args ...any)

	patience patience // used only by deliver
	cancel   context.CancelFunc
	ended    chan struct{}
	ready    chan struct{} // capacity 1: messages wait
	room     chan struct{} // capacity 1: a message was confirmed

	mu      sync.Mutex
	window  []outgoing
	head    uint64 // number of window[0], counted from the start of the session
	bytes   int    // of the window
	account Delivered
	problem string // reason why the server confirms no messages now; empty if it does
	told    bus.Seldom
}

// Delivered counts confirmed, resent and lost frames and messages.
type Delivered struct {
	Sent
	Resent uint64 // times that messages in flight were sent again
	Lost   uint64 // frames dropped because the window was full
}

// outgoing is a message of the window.
type outgoing struct {
	id      string
	headers nats.Header
	data    []byte
	frame   int // bytes of the frame if this is its last message, otherwise 0
}

// NewDurablePublisher starts a session on subject, and creates its stream if missing. It reports transient problems through o.Warn. The caller keeps ownership
// of the connection. Close ends the publisher.
func NewDurablePublisher(ctx context.Context, conn *bus.Conn, o Durably) (*DurablePublisher, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	coder, err := newCoder(o.Encoding)
	if err != nil {
		return nil, err
	}
	p := &DurablePublisher{
		conn: conn, coder: coder, subject: o.Subject, keep: o.Keep, warn: o.Warn,
		ended: make(chan struct{}), ready: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	if p.js, err = jetstream.New(conn.NATS()); err != nil {
		return nil, err
	}
	asking, done := context.WithTimeout(ctx, answering)
	defer done()
	if _, err := p.keep.streamOf(asking, p.js, p.subject); err != nil {
		return nil, err
	}
	ctx, p.cancel = context.WithCancel(context.Background())
	go p.deliver(ctx)
	return p, nil
}

// Durably configures a DurablePublisher and its stream.
type Durably struct {
	Subject  string
	Encoding wire.Encoding
	Keep     Keep
	Warn     func(format string, args ...any)
}

// Check rejects settings that no server accepts.
func (o *Durably) Check() error {
	if err := checkSubject(o.Subject); err != nil {
		return err
	}
	return o.Keep.Check()
}

// Publish puts a copy of f into the window. The caller keeps f. If the window is full, it waits for room or the end of ctx. If patient is false, it drops the
// frame and counts it.
func (p *DurablePublisher) Publish(ctx context.Context, f *frame.Frame, patient bool) error {
	h, data, err := p.coder.encode(f)
	if err != nil {
		return err
	}
	for !p.fits(len(data)) {
		if !patient {
			p.mu.Lock()
			p.account.Lost++
			p.mu.Unlock()
			return nil
		}
		select {
		case <-p.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	data = slices.Clone(data)
	var messages []outgoing
	err = wire.Split(h, data, int(p.conn.NATS().MaxPayload())-identityRoom, func(headers map[string][]string, part []byte) error {
		m := outgoing{id: fmt.Sprintf("%s-%d-%d", h.Session, h.Seq, len(messages)), headers: nats.Header{}, data: part}
		for name, values := range headers {
			m.headers[name] = slices.Clone(values)
		}
		m.headers.Set(jetstream.MsgIDHeader, m.id)
		messages = append(messages, m)
		return nil
	})
	if err != nil {
		return fmt.Errorf("frame %d on %s: %w", h.Seq, p.subject, err)
	}
	messages[len(messages)-1].frame = max(1, len(data))
	p.mu.Lock()
	p.window = append(p.window, messages...)
	p.bytes += len(data)
	p.mu.Unlock()
	signal(p.ready)
	return nil
}

// identityRoom bounds the additional header bytes of a durable message.
const identityRoom = 512

// fits reports whether the window has room for a frame.
func (p *DurablePublisher) fits(size int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.window) == 0 || len(p.window) < windowMessages && p.bytes+size <= windowBytes
}

// signal wakes the reader of a channel of capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Finish waits until all messages are confirmed or ctx ends, and returns the number of unconfirmed frames.
func (p *DurablePublisher) Finish(ctx context.Context) (unconfirmed int) {
	for {
		if unconfirmed = p.waiting(); unconfirmed == 0 {
			return 0
		}
		select {
		case <-p.room:
		case <-ctx.Done():
			return p.waiting()
		}
	}
}

// waiting returns the number of unconfirmed frames.
func (p *DurablePublisher) waiting() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.window {
		if p.window[i].frame > 0 {
			n++
		}
	}
	return n
}

// Problem returns the reason why the server confirms no messages now, or "".
func (p *DurablePublisher) Problem() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.problem
}

// Delivered returns the counts so far.
func (p *DurablePublisher) Delivered() Delivered {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account
}

// Close ends the publisher. Unconfirmed messages are lost.
func (p *DurablePublisher) Close() {
	p.cancel()
	<-p.ended
}

// confirmWait bounds the wait for the next confirmation: a whole window over 100 Mbit/s takes 2.7 s, and a cluster needs some
// seconds to elect a leader.
const confirmWait = 10 * time.Second
