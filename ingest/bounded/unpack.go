package bounded

import (
	"bytes"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// MaxUnpacked bounds the unpacked size of a chunk or picture.
const MaxUnpacked = 128 << 20

// Zlib unpacks zlib streams. The zero value is ready. Not safe for concurrent use.
type Zlib struct {
	in bytes.Reader
	r  io.ReadCloser // implements zlib.Resetter
}

// open starts to read the stream packed.
func (z *Zlib) open(packed []byte) (err error) {
	z.in.Reset(packed)
	if z.r == nil {
		z.r, err = zlib.NewReader(&z.in)
		return err
	}
	return z.r.(zlib.Resetter).Reset(&z.in, nil)
}

// Fill unpacks packed into dst. The unpacked length must be exactly len(dst).
func (z *Zlib) Fill(dst, packed []byte) error {
	if err := z.open(packed); err != nil {
		return err
	}
	return Fill(dst, z.r)
}

// Most unpacks at most len(dst) bytes into dst and returns their number.
func (z *Zlib) Most(dst, packed []byte) (n int, err error) {
	if err := z.open(packed); err != nil {
		return 0, err
	}
	n, err = io.ReadFull(z.r, dst)
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		err = nil
	}
	return n, err
}

// Fill fills dst and requires that r then ends, which makes r verify its checksum.
func Fill(dst []byte, r io.Reader) error {
	if n, err := io.ReadFull(r, dst); err != nil {
		return fmt.Errorf("only %d of %d bytes were unpacked: %w", n, len(dst), err)
	}
	var more [1]byte
	if n, err := io.ReadFull(r, more[:]); n > 0 || err != io.EOF {
		return fmt.Errorf("it unpacks to more than the %d bytes of its size, or its checksum is wrong (%v)", len(dst), err)
	}
	return nil
}

// Zstd unpacks Zstandard frames. The zero value is ready. Not safe for concurrent use.
type Zstd struct{ decoder *zstd.Decoder }

// Unpack decompresses packed to at most len(dst) bytes, in the memory of dst.
func (z *Zstd) Unpack(dst, packed []byte) (_ []byte, err error) {
	if z.decoder == nil {
		z.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxUnpacked), zstd.WithDecoderMaxWindow(MaxUnpacked), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	return z.decoder.DecodeAll(packed, dst[:0:len(dst)])
}

// Close frees the decoder.
func (z *Zstd) Close() {
	if z.decoder != nil {
		z.decoder.Close()
		z.decoder = nil
	}
}
