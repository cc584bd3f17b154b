package natsource

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"driftscope/ingest/picture"
	"driftscope/ingest/tiff"
	"driftscope/ingest/wire"
	"driftscope/internal/flow/bus"
	"driftscope/internal/flow/frame"
)

// FramePatience is the timeout of a Publisher's connection. A message of 8 MB takes 0.7 s over 100 Mbit/s.
const FramePatience = 10 * time.Second

// Publisher sends frames over NATS in the format of the nats source. Not safe for concurrent use.
type Publisher struct {
	conn    *bus.Conn
	coder   coder
	subject string
	sent    Sent
}

// Sent counts the data that a Publisher passed to the server.
type Sent struct{ Frames, Messages, Bytes uint64 }

// NewPublisher starts a session on subject. Compression reduces network traffic and costs processor time. PNG cannot store float32. The caller keeps ownership
// of the connection.
func NewPublisher(conn *bus.Conn, subject string, encoding wire.Encoding) (*Publisher, error) {
	if err := checkSubject(subject); err != nil {
		return nil, err
	}
	coder, err := newCoder(encoding)
	return &Publisher{conn: conn, subject: subject, coder: coder}, err
}

// Publish sends f. The caller keeps f. While the server is away it returns nats.ErrReconnectBufExceeded at once; the caller may then publish the same frame
// again.
func (p *Publisher) Publish(f *frame.Frame) error {
	h, data, err := p.coder.encode(f)
	if err != nil {
		return err
	}
	err = wire.Split(h, data, int(p.conn.NATS().MaxPayload()), func(headers map[string][]string, data []byte) error {
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

// Sent returns the counts so far.
func (p *Publisher) Sent() Sent { return p.sent }

// coder encodes a session's frames.
type coder struct {
	session  string
	encoding wire.Encoding
	packer   *wire.Packer // set if encoding is Zstd
	page     tiff.Image   // memory of the encoded frame
	png      []byte       // memory of the encoded frame
}

// newCoder starts a session.
func newCoder(encoding wire.Encoding) (c coder, err error) {
	c = coder{session: strconv.FormatInt(time.Now().UnixNano(), 36), encoding: encoding}
	if encoding == wire.Zstd {
		c.packer, err = wire.NewPacker()
	}
	return c, err
}

// encode returns f's header and bytes, which are valid until the next call.
func (c *coder) encode(f *frame.Frame) (h wire.Header, data []byte, err error) {
	if err := picture.ToPage(&c.page, f.Mat()); err != nil {
		return h, nil, fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	h = wire.Header{
		Session: c.session, Seq: f.Seq, Time: f.Time, Trajectory: f.Meta.Trajectory,
		Width: c.page.Width, Height: c.page.Height, Channels: c.page.Channels, Depth: c.page.Depth, Encoding: c.encoding,
	}
	data = c.page.Pix
	switch c.encoding {
	case wire.PNG:
		data, err = c.encodePNG(f)
	case wire.Zstd:
		data, err = c.packer.Pack(&h, c.page.Pix)
	}
	if err != nil {
		return h, nil, fmt.Errorf("frame %d: %w", f.Seq, err)
	}
	return h, data, nil
}

// encodePNG returns a PNG file.
func (c *coder) encodePNG(f *frame.Frame) ([]byte, error) {
	if c.page.Depth == tiff.Float32 {
		return nil, fmt.Errorf("PNG cannot store float32 pixels: use --compress zstd, or no compression")
	}
	data, err := picture.EncodePNG(c.png, f.Mat())
	if err == nil {
		c.png = data
	}
	return data, err
}
