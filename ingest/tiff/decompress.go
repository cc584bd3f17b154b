package tiff

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"golang.org/x/image/tiff/lzw"
)

// decompressor keeps the memory of one stored chunk and one decompressed chunk.
type decompressor struct {
	stored []byte
	raw    []byte
	in     bytes.Reader
	zlib   io.ReadCloser // implements zlib.Resetter
}

// readChunk returns chunk i of the page, decompressed and without prediction. skip is added to the chunk's file offset. The slice is valid until the next call.
func (f *File) readChunk(p *page, i int, skip int64) ([]byte, error) {
	c := &f.chunks
	c.raw = resize(c.raw, p.chunkBytes(i))
	offset := int64(p.offsets[i]) + skip
	if p.compression == uncompressed {
		return c.raw, f.readAt(c.raw, offset)
	}
	// slack bounds the extra bytes of a stored chunk: a coder needs at most twice the size of its input, and a few bytes more. More bytes are not read.
	const slack = 64 << 10
	c.stored = resize(c.stored, int(min(f.stored(p, i), 2*int64(len(c.raw))+slack)))
	if err := f.readAt(c.stored, offset); err != nil {
		return nil, err
	}
	if err := c.expand(p.compression); err != nil {
		return nil, fmt.Errorf("strip or tile %d at byte %d (compression %s): %w", i, offset, compressionName(p.compression), err)
	}
	f.unpredict(p, c.raw)
	return c.raw, nil
}

// expand decompresses c.stored into c.raw, without growing it.
func (c *decompressor) expand(compression uint64) (err error) {
	n := 0
	switch compression {
	case packBits:
		n, err = expandPackBits(c.raw, c.stored)
	case lzwCoded:
		n, err = c.expandLZW()
	default:
		n, err = c.inflate()
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the data ends after %d of %d bytes: copy the file again", n, len(c.raw))
	}
	if err != nil && !errors.Is(err, errOldLZW) {
		return fmt.Errorf("%w: the file is damaged, copy it again", err)
	}
	return err
}

var errOldLZW = Unread("the file uses LZW with the low bit first, from before 1988, which is not supported: write it with today's LZW")

func (c *decompressor) expandLZW() (int, error) {
	// Before 1988 codes were packed from the low bit: the clear code, 256, then begins with a zero byte and an odd one.
	if len(c.stored) >= 2 && c.stored[0] == 0 && c.stored[1]&1 == 1 {
		return 0, errOldLZW
	}
	c.in.Reset(c.stored)
	r := lzw.NewReader(&c.in, lzw.MSB, 8)
	defer r.Close()
	return io.ReadFull(r, c.raw)
}

func (c *decompressor) inflate() (n int, err error) {
	c.in.Reset(c.stored)
	if c.zlib == nil {
		c.zlib, err = zlib.NewReader(&c.in)
	} else {
		err = c.zlib.(zlib.Resetter).Reset(&c.in, nil)
	}
	if err != nil {
		return 0, err
	}
	return io.ReadFull(c.zlib, c.raw)
}

// expandPackBits decodes TIFF 6.0 section 9: a byte n ≥ 0 precedes n+1 literal bytes, n < 0 precedes a byte that repeats 1-n
// times, and -128 is ignored.
func expandPackBits(dst, src []byte) (n int, err error) {
	for n < len(dst) {
		if len(src) < 2 {
			return n, io.ErrUnexpectedEOF
		}
		head := int8(src[0])
		src = src[1:]
		switch {
		case head >= 0:
			literal := min(int(head)+1, len(src))
			n += copy(dst[n:], src[:literal])
			src = src[literal:]
		case head != -128:
			run := dst[n:min(n+1-int(head), len(dst))]
			for i := range run {
				run[i] = src[0]
			}
			n += len(run)
			src = src[1:]
		}
	}
	return n, nil
}
