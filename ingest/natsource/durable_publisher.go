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

// What waits until the server has confirmed it; one frame may be larger.
const (
	windowBytes    = 32 << 20
	windowMessages = 4096
)

// DurablePublisher has JetStream keep frames, each once and in order, whatever happens to the server meanwhile. A frame waits in a window
// of memory until the server has confirmed all its messages. Publish, Finish and Close belong to one goroutine.
//
// A store.Sender sends; all of the window is on its way at once. After any failure the stream is asked for its last message, and sending goes on behind that one of the window; a message that
// was stored but not confirmed is known by its identity, Nats-Msg-Id, which the server looks at, too.
type DurablePublisher struct {
	conn    *bus.Conn
	coder   coder
	subject string
	keep    Keep
	js      jetstream.JetStream
	warn    func(format string, args ...any)

	patience patience // deliver's
	cancel   context.CancelFunc
	ended    chan struct{}
	ready    chan struct{} // of one: something waits to be sent
	room     chan struct{} // of one: something was confirmed

	mu      sync.Mutex
	window  []outgoing
	head    uint64 // the number of window[0], counted over the session
	bytes   int    // of the window
	account Delivered
	problem string // why nothing is confirmed now
	told    bus.Seldom
}

// Delivered counts what a DurablePublisher's server has confirmed.
type Delivered struct {
	Sent
	Resent uint64 // times that what was on its way had to be sent again
	Lost   uint64 // frames for which the window had no room
}

// outgoing is a message of the window.
type outgoing struct {
	id      string
	headers nats.Header
	data    []byte
	frame   int // bytes of its frame where it is the last of one, otherwise 0
}

// NewDurablePublisher begins a session on subject, and makes the stream that keeps its frames where there is none. Problems that pass by
// themselves are told by warn. The connection stays the caller's, Close ends the publisher.
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

// Durably says what a DurablePublisher publishes, and how it is kept.
type Durably struct {
	Subject  string
	Encoding wire.Encoding
	Keep     Keep
	Warn     func(format string, args ...any)
}

// Check refuses what no server could keep.
func (o *Durably) Check() error {
	if err := checkSubject(o.Subject); err != nil {
		return err
	}
	return o.Keep.Check()
}

// Publish puts f, which it borrows, into the window. Where that is full it waits until there is room or ctx ends; or, where patient is false, loses
// the frame and counts it.
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

// identityRoom is what the headers of a durable message add to those of a live one.
const identityRoom = 512

// fits says whether the window has room for a frame.
func (p *DurablePublisher) fits(size int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.window) == 0 || len(p.window) < windowMessages && p.bytes+size <= windowBytes
}

// signal wakes who waits on a channel of one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Finish waits until all is confirmed or ctx ends, and says how many frames are not.
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

// waiting is how many frames are not confirmed.
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

// Problem says why nothing is confirmed now; empty where all is well.
func (p *DurablePublisher) Problem() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.problem
}

// Delivered is the account so far.
func (p *DurablePublisher) Delivered() Delivered {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.account
}

// Close ends the publisher; what is not confirmed then is lost.
func (p *DurablePublisher) Close() {
	p.cancel()
	<-p.ended
}

// confirmWait is how long the next confirmation may take: a whole window over 100 Mbit/s takes 2.7 s, and a cluster some seconds to choose a leader.
const confirmWait = 10 * time.Second
