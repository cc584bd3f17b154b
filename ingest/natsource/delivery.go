package natsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"driftscope/internal/bus"
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

// mostTold bounds the reasons that are known to be told.
const mostTold = 16

// failed counts a session that ended, and reports its reason once until something is confirmed again.
func (p *DurablePublisher) failed(err error) {
	p.mu.Lock()
	p.account.Resent++
	p.problem = err.Error()
	told := slices.Contains(p.told, p.problem)
	if !told && len(p.told) < mostTold {
		p.told = append(p.told, p.problem)
	}
	p.mu.Unlock()
	if !told {
		p.warn("%s: frames wait in memory: %v", p.subject, err)
	}
}

// session sends what waits and forgets what is confirmed, in order, until something fails or ctx ends.
func (p *DurablePublisher) session(ctx context.Context) error {
	last, alone, err := p.resume(ctx)
	if err != nil {
		return err
	}
	nc := p.conn.NATS()
	inbox := nc.NewInbox()
	acks := make(chan *nats.Msg, windowMessages+1)
	replies, err := nc.ChanSubscribe(inbox+".*", acks)
	if err != nil {
		return err
	}
	defer replies.Unsubscribe()
	late := time.NewTimer(confirmWait) // for the first of the window to be confirmed
	defer late.Stop()
	var before string // identity of the last message that was sent; empty before the first
	for flying := 0; ; {
		for m, number := p.nth(flying); m != nil && flying < windowMessages; m, number = p.nth(flying) {
			if err := p.send(m, reply(inbox, number), last+uint64(flying), before); err != nil {
				return err
			}
			if alone {
				before = m.id
			}
			if flying == 0 {
				late.Reset(confirmWait)
			}
			flying++
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ready:
		case <-late.C:
			if flying > 0 {
				return fmt.Errorf("the server confirmed nothing for %v", confirmWait)
			}
		case m := <-acks:
			ours, err := p.confirms(m, reply(inbox, p.confirmed()))
			if err != nil {
				return err
			}
			if ours && flying > 0 {
				p.forget(1)
				last, flying = last+1, flying-1
				late.Reset(confirmWait)
			}
		}
	}
}

// nth is the window's message at a place, and its number; nil behind its end.
func (p *DurablePublisher) nth(i int) (*outgoing, uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if i >= len(p.window) {
		return nil, 0
	}
	m := p.window[i]
	return &m, p.head + uint64(i)
}

// send publishes m as what follows sequence number last, and the message of identity before unless that is empty. The number alone is not enough: a
// stranger's message takes the number of one of ours, and the next of ours would be stored in its place. In a cluster the number has to do: a server that
// was away and has caught up refuses every message that names the one before it, and its replica is never whole again (nats-server 2.15: processCatchupMsg
// leaves lmsgId as it was).
func (p *DurablePublisher) send(m *outgoing, reply string, last uint64, before string) error {
	m.headers.Set(jetstream.ExpectedLastSeqHeader, strconv.FormatUint(last, 10))
	m.headers.Del(jetstream.ExpectedLastMsgIDHeader)
	if before != "" {
		m.headers.Set(jetstream.ExpectedLastMsgIDHeader, before)
	}
	return p.conn.NATS().PublishMsg(&nats.Msg{Subject: p.subject, Reply: reply, Header: m.headers, Data: m.data})
}

// confirms says whether m is the stream's word that the first of the window is stored. Whoever subscribes to the frames may answer them, too: what is
// not the stream's says nothing.
func (p *DurablePublisher) confirms(m *nats.Msg, first string) (bool, error) {
	if m.Header.Get("Status") != "" {
		return false, errors.New("nothing keeps what is published: is JetStream enabled, and the stream there?")
	}
	var ack struct {
		Stream string `json:"stream"`
		Error  *struct {
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(m.Data, &ack); err != nil || ack.Stream != "" && ack.Stream != bus.FramesName(p.subject) || ack.Stream == "" && ack.Error == nil {
		return false, nil
	}
	if ack.Error != nil {
		return false, fmt.Errorf("the server does not store a frame's message: %.200q", ack.Error.Description)
	}
	if m.Subject == first {
		return true, nil
	}
	return false, errors.New("a confirmation out of turn: the one before it is lost")
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
	p.window, p.head, p.problem, p.told = p.window[n:], p.head+uint64(n), "", p.told[:0]
	p.mu.Unlock()
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
		switch m, _ := p.nth(i); {
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
	first, _ := p.nth(0)
	m, err := stream.GetMsg(ctx, last-uint64(i))
	if err != nil || m.Header.Get(jetstream.MsgIDHeader) == first.id {
		return
	}
	p.mu.Lock()
	p.account.Lost++
	p.mu.Unlock()
	p.warn("%s: another publisher uses this subject, and a frame was lost at sequence %d: give each publisher its own subject", p.subject, last-uint64(i))
}
