package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// Format is one kind of checkpoint.
type Format struct {
	Magic    string
	Version  uint32
	Limit    int   // largest payload in bytes; a header with a larger length is refused before memory is allocated
	Unusable error // wrapped by every error about data that are not a complete checkpoint of this kind. Callers add advice for the user
}

// HeaderSize returns the number of bytes before the payload.
func (f *Format) HeaderSize() int { return len(f.Magic) + 4 + 8 }

// Writer returns an empty writing Codec. Seal completes its checkpoint.
func (f *Format) Writer() *Codec {
	c := &Codec{writing: true, unusable: f.Unusable, buf: append([]byte(f.Magic), make([]byte, 12)...)}
	binary.LittleEndian.PutUint32(c.buf[len(f.Magic):], f.Version)
	return c
}

// Seal returns the whole checkpoint of a filled Writer. The Codec must not be used again.
func (f *Format) Seal(c *Codec) []byte {
	binary.LittleEndian.PutUint64(c.buf[len(f.Magic)+4:], uint64(len(c.buf)-f.HeaderSize()))
	digest := sha256.Sum256(c.buf)
	return append(c.buf, digest[:]...)
}

// Open returns a Codec that reads the payload of a complete checkpoint. It keeps a reference to data. Bytes after the checkpoint are an error.
func (f *Format) Open(data []byte) (*Codec, error) {
	size, err := f.announced(data)
	if err != nil {
		return nil, err
	}
	if whole := f.HeaderSize() + size + sha256.Size; len(data) != whole {
		return nil, fmt.Errorf("%w: it is torn: %d bytes, expected %d", f.Unusable, len(data), whole)
	}
	return f.verified(data, size)
}

// Read reads a checkpoint from r and opens it. It reads nothing after the checkpoint. Its buffer doubles while bytes arrive, up to the length in the header.
func (f *Format) Read(r io.Reader) (*Codec, error) {
	header := make([]byte, f.HeaderSize())
	n, err := io.ReadFull(r, header)
	if err != nil {
		header = header[:n]
	}
	size, err := f.announced(header)
	if err != nil {
		return nil, err
	}
	const first = 1 << 20
	whole := len(header) + size + sha256.Size
	data := header
	for n < whole {
		grown := make([]byte, min(whole, max(first, 2*n)))
		copy(grown, data)
		data = grown
		more, err := io.ReadFull(r, data[n:])
		if n += more; err != nil {
			return nil, fmt.Errorf("%w: it is torn after %d bytes of %d", f.Unusable, n, whole)
		}
	}
	return f.verified(data, size)
}

// announced returns the length of the payload from the header at the start of data.
func (f *Format) announced(data []byte) (int, error) {
	if len(data) < f.HeaderSize() || string(data[:len(f.Magic)]) != f.Magic {
		return 0, fmt.Errorf("%w: it does not begin with the right signature", f.Unusable)
	}
	if v := binary.LittleEndian.Uint32(data[len(f.Magic):]); v != f.Version {
		return 0, fmt.Errorf("%w: version %d, this build reads %d", f.Unusable, v, f.Version)
	}
	size := binary.LittleEndian.Uint64(data[len(f.Magic)+4:])
	if size > uint64(f.Limit) {
		return 0, fmt.Errorf("%w: %d bytes announced, expected at most %d", f.Unusable, size, f.Limit)
	}
	return int(size), nil
}

// verified checks the digest and returns a Codec for the payload.
func (f *Format) verified(data []byte, size int) (*Codec, error) {
	end := f.HeaderSize() + size
	if digest := sha256.Sum256(data[:end]); !bytes.Equal(digest[:], data[end:]) {
		return nil, fmt.Errorf("%w: its digest does not match its content", f.Unusable)
	}
	return NewReader(data[f.HeaderSize():end], f.Unusable), nil
}
