package avcodec

import (
	"encoding/binary"
	"io"
)

// PacketSize is the length of a transport packet.
const PacketSize = 188

const (
	sync    = 0x47
	maxHeld = 64 << 20 // bytes of a picture
)

// IsTransportStream reports whether data begin like a transport stream. It needs at least PacketSize+1 bytes.
func IsTransportStream(data []byte) bool {
	return len(data) > PacketSize && data[0] == sync && data[PacketSize] == sync
}

// transportPacket is a transport packet.
type transportPacket []byte

func (p transportPacket) pid() uint16 { return binary.BigEndian.Uint16(p[1:]) & 0x1fff }

// begins reports whether a PES begins in the packet.
func (p transportPacket) begins() bool { return p[1]&0x40 != 0 }

// payload returns the bytes after the header and the adaptation field.
func (p transportPacket) payload() []byte {
	switch at := 4; p[3] >> 4 & 3 {
	case 3:
		at += 1 + int(p[4])
		return p[min(at, PacketSize):]
	case 1:
		return p[at:]
	}
	return nil
}

// filled reports whether the adaptation field has stuffing, which means that it is longer than its flags require.
func (p transportPacket) filled() bool {
	if p[3]>>4&3 != 3 {
		return false
	}
	length := int(p[4])
	if length == 0 { // the length byte alone is stuffing
		return true
	}
	if length > PacketSize-5 {
		return false
	}
	field := p[5 : 5+length]
	used := 1
	if field[0]&0x10 != 0 {
		used += 6 // clock reference
	}
	if field[0]&0x08 != 0 {
		used += 6
	}
	if field[0]&0x04 != 0 {
		used++ // splice
	}
	if field[0]&0x02 != 0 && used < length { // private data
		used += 1 + int(field[used])
	}
	if field[0]&0x01 != 0 && used < length { // extension
		used += 1 + int(field[used])
	}
	return used < length
}

// picture reports whether the payload begins the PES of a picture. length is the stated length of the PES with its header, or 0 if not stated.
func (p transportPacket) picture() (is bool, length int) {
	data := p.payload()
	if !p.begins() || len(data) < 6 || data[0] != 0 || data[1] != 0 || data[2] != 1 || data[3]>>4 != 0xe {
		return false, 0
	}
	if n := int(binary.BigEndian.Uint16(data[4:])); n > 0 {
		length = 6 + n
	}
	return true, length
}

// TransportWriter forwards a transport stream, and holds back a picture until it is complete.
type TransportWriter struct {
	to   io.Writer
	rest []byte // less than one packet
	lost bool   // the starts of packets are unknown, so everything is forwarded
	pid  uint16 // PID of the pictures
	held []byte // bytes from the start of the last picture

	length int // stated length (0 if not stated) and bytes received
	came   int
	filled bool
}

// NewTransportWriter returns a TransportWriter that forwards to to.
func NewTransportWriter(to io.Writer) *TransportWriter { return &TransportWriter{to: to} }

// Write takes the next bytes.
func (w *TransportWriter) Write(data []byte) (int, error) {
	if w.lost {
		return w.to.Write(data)
	}
	w.rest = append(w.rest, data...)
	used := 0
	for ; len(w.rest)-used >= PacketSize; used += PacketSize {
		p := transportPacket(w.rest[used : used+PacketSize])
		if p[0] != sync || len(w.held) > maxHeld {
			w.lost = true
			break
		}
		if err := w.packet(p); err != nil {
			return 0, err
		}
	}
	w.rest = append(w.rest[:0], w.rest[used:]...)
	if w.lost {
		if err := w.pass(w.rest); err != nil {
			return 0, err
		}
		w.rest = nil
	}
	return len(data), nil
}

func (w *TransportWriter) packet(p transportPacket) error {
	if is, length := p.picture(); is && (w.pid == 0 || w.pid == p.pid()) {
		if err := w.pass(nil); err != nil {
			return err
		}
		w.pid, w.length, w.came = p.pid(), length, 0
	}
	if w.pid == 0 {
		_, err := w.to.Write(p)
		return err
	}
	if p.pid() == w.pid {
		w.came += len(p.payload())
		w.filled = p.filled()
	}
	w.held = append(w.held, p...)
	return nil
}

// pass forwards the held bytes and then more.
func (w *TransportWriter) pass(more []byte) error {
	held := w.held
	w.held = w.held[:0]
	for _, part := range [][]byte{held, more} {
		if len(part) == 0 {
			continue
		}
		if _, err := w.to.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// End forwards the held bytes if they are a whole picture. torn is true if they are not, or if the stream ends within a packet.
func (w *TransportWriter) End() (torn bool, err error) {
	if w.lost {
		return false, nil
	}
	whole := w.filled && w.length == 0 || w.length > 0 && w.came >= w.length
	if len(w.held) == 0 || whole {
		return len(w.rest) > 0, w.pass(nil)
	}
	w.held = nil
	return true, nil
}

// WholeTransport returns the offset of the last picture of a finished stream if that picture is incomplete, otherwise size. A file with parts that are not a
// transport stream counts as whole.
func WholeTransport(file io.ReaderAt, size int64) (int64, error) {
	packets := make([]byte, 1024*PacketSize)
	for end := size / PacketSize * PacketSize; end > 0 && size-end < maxHeld; {
		some := packets[:min(int64(len(packets)), end)]
		begin := end - int64(len(some))
		if _, err := file.ReadAt(some, begin); err != nil {
			return 0, err
		}
		for at := len(some) - PacketSize; at >= 0; at -= PacketSize {
			p := transportPacket(some[at : at+PacketSize])
			if p[0] != sync {
				return size, nil
			}
			if is, _ := p.picture(); is {
				return last(file, begin+int64(at), size)
			}
		}
		end = begin
	}
	return size, nil
}

// last returns begin if the picture that begins there is incomplete, otherwise size.
func last(file io.ReaderAt, begin, size int64) (int64, error) {
	w := NewTransportWriter(io.Discard)
	if _, err := io.Copy(w, io.NewSectionReader(file, begin, size-begin)); err != nil {
		return 0, err
	}
	w.rest = nil // a whole picture cannot end with a partial packet
	if torn, err := w.End(); err != nil || !torn {
		return size, err
	}
	return begin, nil
}
