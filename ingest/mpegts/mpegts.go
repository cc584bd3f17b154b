// Package mpegts finds where the last picture of an MPEG transport stream (ISO/IEC 13818-1) ends that is whole. A stream that is cut, by the end of a
// connection or of a recording in progress, ends within a picture, and FFmpeg makes a picture of what is there.
//
// A picture is one packet of the elementary stream (PES), carried by many of the transport's, of 188 bytes. It is whole where another one begins; at the
// stream's end where it has the length that it says, or where its last transport packet is filled up, which only the last one of a PES is (2.4.3.5).
package mpegts

import (
	"encoding/binary"
	"io"
)

// PacketSize is the length of a transport packet.
const PacketSize = 188

const (
	sync    = 0x47
	maxHeld = 64 << 20 // a picture's bytes
)

// Begins says whether data, of PacketSize+1 bytes at least, begin as a transport stream does.
func Begins(data []byte) bool {
	return len(data) > PacketSize && data[0] == sync && data[PacketSize] == sync
}

// packet is a transport packet.
type packet []byte

func (p packet) pid() uint16 { return binary.BigEndian.Uint16(p[1:]) & 0x1fff }

// begins says whether a PES begins in it.
func (p packet) begins() bool { return p[1]&0x40 != 0 }

// payload is behind the header and the adaptation field.
func (p packet) payload() []byte {
	switch at := 4; p[3] >> 4 & 3 {
	case 3:
		at += 1 + int(p[4])
		return p[min(at, PacketSize):]
	case 1:
		return p[at:]
	}
	return nil
}

// filled says whether the adaptation field has stuffing: it is longer than what its flags say that it holds.
func (p packet) filled() bool {
	if p[3]>>4&3 != 3 {
		return false
	}
	length := int(p[4])
	if length == 0 { // one byte of stuffing
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

// picture says whether the payload begins a PES of pictures, and how long that is, its header included; 0: it does not say.
func (p packet) picture() (is bool, length int) {
	data := p.payload()
	if !p.begins() || len(data) < 6 || data[0] != 0 || data[1] != 0 || data[2] != 1 || data[3]>>4 != 0xe {
		return false, 0
	}
	if n := int(binary.BigEndian.Uint16(data[4:])); n > 0 {
		length = 6 + n
	}
	return true, length
}

// Writer passes a transport stream on, all but a picture that is not whole yet.
type Writer struct {
	to   io.Writer
	rest []byte // less than a packet
	lost bool   // the packets' beginnings are not known: all is passed on
	pid  uint16 // of the pictures
	held []byte // from where the last picture begins

	length int // that it says, and how much of it came; 0: it does not say
	came   int
	filled bool
}

// NewWriter passes on to to.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Write takes the next bytes.
func (w *Writer) Write(data []byte) (int, error) {
	if w.lost {
		return w.to.Write(data)
	}
	w.rest = append(w.rest, data...)
	used := 0
	for ; len(w.rest)-used >= PacketSize; used += PacketSize {
		p := packet(w.rest[used : used+PacketSize])
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

func (w *Writer) packet(p packet) error {
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

// pass writes what is held, and what follows it.
func (w *Writer) pass(more []byte) error {
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

// End passes on what is held if it is whole. torn says that it was not, or that the stream ends within a packet.
func (w *Writer) End() (torn bool, err error) {
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

// Whole is where a finished stream's last picture begins if that is not whole, else size. What is no transport stream throughout is whole.
func Whole(file io.ReaderAt, size int64) (int64, error) {
	packets := make([]byte, 1024*PacketSize)
	for end := size / PacketSize * PacketSize; end > 0 && size-end < maxHeld; {
		some := packets[:min(int64(len(packets)), end)]
		begin := end - int64(len(some))
		if _, err := file.ReadAt(some, begin); err != nil {
			return 0, err
		}
		for at := len(some) - PacketSize; at >= 0; at -= PacketSize {
			p := packet(some[at : at+PacketSize])
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

// last says whether the picture that begins at begin is whole.
func last(file io.ReaderAt, begin, size int64) (int64, error) {
	w := NewWriter(io.Discard)
	if _, err := io.Copy(w, io.NewSectionReader(file, begin, size-begin)); err != nil {
		return 0, err
	}
	w.rest = nil // a picture that is whole does not end there
	if torn, err := w.End(); err != nil || !torn {
		return size, err
	}
	return begin, nil
}
