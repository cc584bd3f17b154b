package soak

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/ingest/tiff"
	"driftscope/ingest/wire"
)

// side is the width and height of the pictures for the shipped encoder, px.
const side = 64

// publisher publishes the frames of a camera on a NATS subject. It continues with or without the server.
type publisher struct {
	nc      *nats.Conn
	subject string
	every   time.Duration
	sent    atomic.Uint64

	mu      sync.Mutex
	session string
	seq     uint64
	last    wire.Header
}

func newPublisher(nc *nats.Conn, subject string, every time.Duration) *publisher {
	return &publisher{nc: nc, subject: subject, every: every, session: sessionName()}
}

func sessionName() string { return strconv.FormatInt(time.Now().UnixNano(), 36) }

// run publishes until ctx ends.
func (p *publisher) run(ctx context.Context) {
	tick := time.NewTicker(p.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			p.mu.Lock()
			h := p.header(p.session, p.seq, now)
			p.seq++
			p.last = h
			p.mu.Unlock()
			p.send(h, picture(h.Seq))
		}
	}
}

func (*publisher) header(session string, seq uint64, now time.Time) wire.Header {
	return wire.Header{Session: session, Seq: seq, Time: now, Width: side, Height: side, Channels: 1, Depth: tiff.Uint8}
}

// send publishes a frame if the server is connected. A counted frame may still be lost in transit.
func (p *publisher) send(h wire.Header, pix []byte) {
	err := wire.Split(h, pix, 1<<20, func(headers map[string][]string, data []byte) error {
		return p.nc.PublishMsg(&nats.Msg{Subject: p.subject, Header: copied(headers), Data: data})
	})
	if err == nil {
		p.sent.Add(1)
	}
}

func copied(headers map[string][]string) nats.Header {
	h := nats.Header{}
	for name, values := range headers {
		h[name] = append([]string(nil), values...)
	}
	return h
}

// begin starts a new session of the publisher.
func (p *publisher) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session, p.seq = sessionName(), 0
}

// now returns the header of the newest frame.
func (p *publisher) now() wire.Header {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// junk publishes n messages that are no frames.
func (p *publisher) junk(rng *rand.Rand, n int) {
	for i := range n {
		m := nats.NewMsg(p.subject)
		switch rng.IntN(4) {
		case 0:
			m.Data = []byte("this is no frame")
		case 1:
			m.Header.Set("Driftscope-Session", "junk")
			m.Header.Set("Driftscope-Seq", "minus one")
		case 2:
			h := p.now()
			for name, values := range flat(h) {
				m.Header[name] = values
			}
			m.Header.Set("Driftscope-Width", "99999999")
		case 3:
			m.Data = make([]byte, rng.IntN(64<<10))
			for k := range m.Data {
				m.Data[k] = byte(rng.Uint32())
			}
			m.Header.Set(fmt.Sprintf("X-%d", i), "?")
		}
		p.nc.PublishMsg(m)
	}
}

// flat returns the headers of a frame in a single message.
func flat(h wire.Header) (headers map[string][]string) {
	wire.Split(h, make([]byte, h.Width*h.Height), 1<<20, func(all map[string][]string, _ []byte) error {
		headers = copied(all)
		return nil
	})
	return headers
}

// torn publishes n frames in several messages, and omits some messages of each.
func (p *publisher) torn(rng *rand.Rand, n int) {
	for range n {
		p.mu.Lock()
		h := p.header(p.session, p.seq, time.Now())
		p.seq++
		p.mu.Unlock()
		lost := rng.IntN(4)
		at := 0
		wire.Split(h, picture(h.Seq), 2<<10, func(headers map[string][]string, data []byte) error {
			if at++; at%4 == lost {
				return nil
			}
			return p.nc.PublishMsg(&nats.Msg{Subject: p.subject, Header: copied(headers), Data: data})
		})
	}
}

// late publishes n old frames again.
func (p *publisher) late(rng *rand.Rand, n int) {
	for range n {
		h := p.now()
		h.Seq -= min(h.Seq, uint64(rng.IntN(20)))
		p.send(h, picture(h.Seq))
	}
}

// second publishes for a while in addition to the first publisher, under a different session.
func (p *publisher) second(ctx context.Context, long time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, long)
	defer cancel()
	other := newPublisher(p.nc, p.subject, p.every)
	other.run(ctx)
}

// picture renders a spot that moves by a step per frame.
func picture(seq uint64) []byte {
	pix := make([]byte, side*side)
	x := side/2 + 14*math.Sin(float64(seq)/23)
	y := side/2 + 14*math.Cos(float64(seq)/31)
	for i := range pix {
		dx, dy := float64(i%side)-x, float64(i/side)-y
		pix[i] = byte(20 + 200*math.Exp(-(dx*dx+dy*dy)/18) + float64((uint64(i)*2654435761+seq*40503)>>7%8))
	}
	return pix
}
