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

// deliver sends the window to the server until ctx ends.
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

// confirmed returns the number of the first unconfirmed message.
func (p *DurablePublisher) confirmed() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.head
}

// failed records why a session ended. It limits the warnings about each reason until the server confirms a message again.
func (p *DurablePublisher) failed(err error) {
	p.mu.Lock()
	p.account.Resent++
	p.problem = err.Error()
	p.mu.Unlock()
	if _, due := p.told.Due(err.Error()); due {
		p.warn("%s: frames wait in memory because the server does not confirm them: %v", p.subject, err)
	}
}

// session sends waiting messages in order and drops confirmed ones from the window, until an error or the end of ctx.
func (p *DurablePublisher) session(ctx context.Context) error {
	last, alone, err := p.resume(ctx)
	if err != nil {
		return err
	}
	s := store.Sender{Conn: p.conn.NATS(), Stream: bus.FramesName(p.subject), Last: last, Alone: alone, Messages: windowMessages, Bytes: math.MaxInt, Wait: confirmWait, Ready: p.ready}
	return s.Send(ctx, &flying{p: p})
}

// flying presents the window as a queue for a store.Sender. Some of its messages are in flight.
type flying struct {
	p *DurablePublisher
	n int
}

// Next returns the first message not in flight.
func (q *flying) Next() (*nats.Msg, error) {
	m := q.p.nth(q.n)
	if m == nil {
		return nil, nil
	}
	q.n++
	return &nats.Msg{Subject: q.p.subject, Header: m.headers, Data: m.data}, nil
}

// Stored drops the first message.
func (q *flying) Stored() error {
	q.p.forget(1)
	q.n--
	return nil
}

// nth returns message i of the window, or nil past its end.
func (p *DurablePublisher) nth(i int) *outgoing {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i >= len(p.window) {
		return nil
	}
	m := p.window[i]
	return &m
}

// forget drops the first n messages of the window, which the server has stored.
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
	clear(p.window[:n]) // frees the messages now; the array is freed when it is full
	p.window, p.head, p.problem = p.window[n:], p.head+uint64(n), ""
	p.mu.Unlock()
	p.told.News()
	signal(p.room)
}

// resume finds the stream's last message in the window and drops the messages up to it. It returns the stream's last sequence number. alone reports that the
// stream has a single replica. It creates a missing stream.
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
	if errors.Is(err, jetstream.ErrMsgNotFound) { // the message expired, or a replica lags; message IDs then prevent duplicates
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

// skipped warns and counts a lost frame if another publisher's message took the place of the window's first message in the stream. Message i of the window is
// the stream's last message.
func (p *DurablePublisher) skipped(ctx context.Context, stream jetstream.Stream, last uint64, i int) {
	first := p.nth(0)
	m, err := stream.GetMsg(ctx, last-uint64(i))
	if err != nil || m.Header.Get(jetstream.MsgIDHeader) == first.id {
		return
	}
	p.mu.Lock()
	p.account.Lost++
	p.mu.Unlock()
	p.warn("%s: another publisher uses this subject, and its message took the place of a frame at sequence %d: give each publisher its own subject", p.subject, last-uint64(i))
}
