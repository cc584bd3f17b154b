package natsource

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"gocv.io/x/gocv"

	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/wire"
	"driftscope/internal/bus"
	"driftscope/internal/frame"
)

// FramePatience is the connection's for a Publisher: a message of 8 MB takes 0.7 s over 100 Mbit/s.
const FramePatience = 10 * time.Second

// Publisher sends frames over NATS as the nats source reads them. Not safe for concurrent use.
type Publisher struct {
	conn    *bus.Conn
	subject string
	session string
	png     bool
	sent    Sent
	page    tiff.Image // memory of the frame that is sent
}

// Sent counts what a Publisher has handed to the server.
type Sent struct{ Frames, Messages, Bytes uint64 }

// NewPublisher begins a session on subject. As PNG pictures take less of the network and more of the processor; float32 has no PNG.
// The connection stays the caller's.
func NewPublisher(conn *bus.Conn, subject string, asPNG bool) (*Publisher, error) {
	if err := checkSubject(subject); err != nil {
		return nil, err
	}
	return &Publisher{conn: conn, subject: subject, session: strconv.FormatInt(time.Now().UnixNano(), 36), png: asPNG}, nil
}

// Publish sends f, which it borrows. While the server is away it returns nats.ErrReconnectBufExceeded at once; the same frame may then be
// published again.
func (p *Publisher) Publish(f *frame.Frame) error {
	if err := picture.ToPage(&p.page, f.Mat()); err != nil {
		return fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	h := wire.Header{
		Session: p.session, Seq: f.Seq, Time: f.Time, Trajectory: f.Meta.Trajectory,
		Width: p.page.Width, Height: p.page.Height, Channels: p.page.Channels, Depth: p.page.Depth, PNG: p.png,
	}
	if !p.png {
		return p.send(h, p.page.Pix)
	}
	if h.Depth == tiff.Float32 {
		return fmt.Errorf("frame %d: float32 pixels, which PNG cannot hold: leave --png out", f.Seq)
	}
	encoded, err := gocv.IMEncode(gocv.PNGFileExt, *f.Mat())
	if err != nil {
		return fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	defer encoded.Close()
	return p.send(h, encoded.GetBytes())
}

func (p *Publisher) send(h wire.Header, data []byte) error {
	err := wire.Split(h, data, int(p.conn.NATS().MaxPayload()), func(headers map[string][]string, data []byte) error {
		p.sent.Messages++
		return p.conn.NATS().PublishMsg(&nats.Msg{Subject: p.subject, Header: headers, Data: data})
	})
	if err != nil {
		return fmt.Errorf("frame %d on %s: %w", h.Seq, p.subject, err)
	}
	p.sent.Frames++
	p.sent.Bytes += uint64(len(data))
	return nil
}

// Sent is the account so far.
func (p *Publisher) Sent() Sent { return p.sent }
