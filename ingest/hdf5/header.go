package hdf5

import (
	"fmt"

	"driftscope/ingest/bounded"
)

// Bounds on the header of one object.
const (
	maxHeader = 4 << 20 // bytes of all its blocks
	maxBlocks = 1024
)

// The header messages in use.
const (
	spaceMessage    = 0x01
	linksMessage    = 0x02
	typeMessage     = 0x03
	oldFillMessage  = 0x04
	fillMessage     = 0x05
	linkMessage     = 0x06
	externalMessage = 0x07
	layoutMessage   = 0x08
	filterMessage   = 0x0b
	moreMessage     = 0x10
	tableMessage    = 0x11
)

// shared is the flag of a message that is stored elsewhere.
const shared = 0x02

// message is one property of an object.
type message struct {
	kind  int
	flags byte
	data  []byte
}

// header holds the messages of an object.
type header []message

// find returns the first message of a kind, or nil.
func (h header) find(kind int) *message {
	for i := range h {
		if h[i].kind == kind {
			return &h[i]
		}
	}
	return nil
}

// extent is a part of the file.
type extent struct{ at, n uint64 }

// messages reads the blocks of a header in order. Each block may name further blocks.
type messages struct {
	header header
	blocks []extent
	modern bool
	order  bool // messages carry their creation order
}

// header reads the header of the object at an address.
func (f *file) header(at uint64) (header, error) {
	const most = 4 + 2 + 16 + 4 + 8 // for version 2, which is the longer
	c, err := f.upTo(at, most)
	if err != nil {
		return nil, err
	}
	var m messages
	if string(c.b[:min(4, len(c.b))]) == "OHDR" {
		c.take(5)
		flags := c.number(1)
		if flags&0x20 != 0 {
			c.take(16) // times
		}
		if flags&0x10 != 0 {
			c.take(4) // attribute limits
		}
		n := c.number(1 << (flags & 3))
		m = messages{modern: true, order: flags&0x04 != 0, blocks: []extent{{at + uint64(c.at), n}}}
	} else {
		version := c.number(1)
		c.take(7)
		n := c.number(4)
		if version != 1 {
			return nil, fmt.Errorf("the header at address %d has version %d, 1 or 2 expected: the file is damaged, copy it again", at, version)
		}
		m.blocks = []extent{{at + 16, n}}
	}
	if c.short {
		return nil, fmt.Errorf("%w: the header at address %d is incomplete", bounded.ErrTorn, at)
	}
	err = m.read(f)
	return m.header, err
}

// read reads the messages of all blocks.
func (m *messages) read(f *file) error {
	bytes := uint64(0)
	for i := 0; i < len(m.blocks); i++ {
		b := m.blocks[i]
		if b.n > maxHeader || bytes+b.n > maxHeader || i == maxBlocks {
			return fmt.Errorf("a header has more than %d bytes or %d blocks: the file is damaged, copy it again", maxHeader, maxBlocks)
		}
		bytes += b.n
		c, err := f.block(b.at, int(b.n))
		if err != nil {
			return err
		}
		if m.modern && i > 0 { // the block has a signature before and a checksum after its messages
			if string(c.take(4)) != "OCHK" || len(c.b) < 8 {
				return fmt.Errorf("a header continues at address %d, outside the file: the file is damaged, copy it again", b.at)
			}
			c.b = c.b[:len(c.b)-4]
		}
		m.take(c)
	}
	return nil
}

// take reads the messages of a block. Bytes at the end that are too few for a message are a gap.
func (m *messages) take(c *cursor) {
	for !c.short {
		var next message
		var n int
		if m.modern {
			next.kind, n = int(c.number(1)), int(c.number(2))
			next.flags = byte(c.number(1))
			if m.order {
				c.take(2)
			}
		} else {
			next.kind, n = int(c.number(2)), int(c.number(2))
			next.flags = byte(c.number(1))
			c.take(3)
		}
		next.data = c.take(n)
		if c.short {
			return
		}
		if next.kind == moreMessage {
			d := cursor{b: next.data}
			if more := (extent{d.number(8), d.number(8)}); !d.short {
				m.blocks = append(m.blocks, more)
			}
			continue
		}
		m.header = append(m.header, next)
	}
}
