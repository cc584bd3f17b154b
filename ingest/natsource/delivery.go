package natsource

import (
	"context"
	"errors"
	"math"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/store"
)

// deliver brings the window to the server until ctx ends.
func (p *DurablePublisher) deliver(ctx context.Context) {
	defer close(p.ended)
	var here bus.Stay
	for {
		before := p.confirmed()
		err := p.session(ctx)
		if ctx.Err() != nil {
			return
		}
		p.failed(err)
		if p.confirmed() != before {
			here.Worked()
			continue
		}
		here.Failed(p.conn.NATS())
		pause(ctx, tryAgain)
	}
}

// confirmed is the number of the first message that is not.
func (p *DurablePublisher) confirmed() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.head
}

// failed counts a session that ended, and reports each reason not too often until something is confirmed again.
func (p *DurablePublisher) failed(err error) {
	p.mu.Lock()
	p.account.Resent++
	p.problem = err.Error()
	p.mu.Unlock()
	if _, due := p.told.Due(err.Error()); due {
		p.warn("%s: frames wait in memory: %v", p.subject, err)
	}
}

// session sends what waits and forgets what is confirmed, in order, until something fails or ctx ends.
func (p *DurablePublisher) session(ctx context.Context) error {
	last, alone, err := p.resume(ctx)
	if err != nil {
		return err
	}
	s := store.Sender{Conn: p.conn.NATS(), Stream: bus.FramesName(p.subject), Last: last, Alone: alone, Messages: windowMessages, Bytes: math.MaxInt, Wait: confirmWait, Ready: p.ready}
	return s.Send(ctx, &flying{p: p})
}

// flying is the window as a queue: so many of its messages are on their way.
type flying struct {
	p *DurablePublisher
	n int
}

// Next is the first that is not on its way.
func (q *flying) Next() (*nats.Msg, error) {
	m := q.p.nth(q.n)
	if m == nil {
		return nil, nil
	}
	q.n++
	return &nats.Msg{Subject: q.p.subject, Header: m.headers, Data: m.data}, nil
}

// Stored forgets the first.
func (q *flying) Stored() error {
	q.p.forget(1)
	q.n--
	return nil
}

// nth is the window's message at a place; nil behind its end.
func (p *DurablePublisher) nth(i int) *outgoing {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i >= len(p.window) {
		return nil
	}
	m := p.window[i]
	return &m
}

// forget drops the first n messages of the window, which are stored.
func (p *DurablePublisher) forget(n int) {
	p.mu.Lock()
	for _, m := range p.window[:n] {
		p.account.Messages++
		p.account.Bytes += uint64(len(m.data))
		p.bytes -= len(m.data)
		if m.frame > 0 {
			p.account.Frames++
		}
	}
	clear(p.window[:n]) // the bytes are free now, the array when it is full
	p.window, p.head, p.problem = p.window[n:], p.head+uint64(n), ""
	p.mu.Unlock()
	p.told.News()
	signal(p.room)
}

// resume finds the stream's last message in the window, forgets those up to it, and returns the stream's last sequence number, and whether one server
// alone has it. A stream that is not there is made.
func (p *DurablePublisher) resume(ctx context.Context) (last uint64, alone bool, err error) {
	if err := p.conn.Away(); err != nil {
		return 0, false, err
	}
	ctx, done := p.patience.ask(ctx)
	defer done()
	stream, err := p.keep.streamOf(ctx, p.js, p.subject)
	if err != nil {
		return 0, false, err
	}
	p.patience.answered()
	alone = stream.CachedInfo().Config.Replicas <= 1
	if last = stream.CachedInfo().State.LastSeq; last == 0 {
		return 0, alone, nil
	}
	m, err := stream.GetMsg(ctx, last)
	if errors.Is(err, jetstream.ErrMsgNotFound) { // expired, or not yet where a replica answers: then identities tell
		return last, alone, nil
	}
	if err != nil {
		return 0, false, err
	}
	id := m.Header.Get(jetstream.MsgIDHeader)
	if !strings.HasPrefix(id, p.coder.session) {
		return last, alone, nil
	}
	for i := 0; ; i++ {
		switch m := p.nth(i); {
		case m == nil:
			return last, alone, nil
		case m.id == id:
			if i > 0 && !alone {
				p.skipped(ctx, stream, last, i)
			}
			p.forget(i + 1)
			return last, alone, nil
		}
	}
}

// skipped tells where somebody else's message stands in the place of one of the window, of which the one at i is the stream's last: what stood there before it
// is lost.
func (p *DurablePublisher) skipped(ctx context.Context, stream jetstream.Stream, last uint64, i int) {
	first := p.nth(0)
	m, err := stream.GetMsg(ctx, last-uint64(i))
	if err != nil || m.Header.Get(jetstream.MsgIDHeader) == first.id {
		return
	}
	p.mu.Lock()
	p.account.Lost++
	p.mu.Unlock()
	p.warn("%s: another publisher uses this subject, and a frame was lost at sequence %d: give each publisher its own subject", p.subject, last-uint64(i))
}
