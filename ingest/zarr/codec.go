package zarr

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/gzip"

	"driftscope/ingest/bounded"
)

// The supported compressors.
const (
	noCompressor = ""
	withBlosc    = "blosc"
	withGzip     = "gzip"
	withZlib     = "zlib"
	withZstd     = "zstd"
)

// compressors are the names of the supported compressors.
var compressors = []string{withBlosc, withGzip, withZlib, withZstd}

// packing is the encoding of a chunk: at most one compressor, and checksums of its input (inside) and its output (outside).
type packing struct {
	compressor      string
	inside, outside int // number of CRC-32C checksums, four bytes each
}

// checked reports that unpacking an incomplete chunk always fails.
func (p packing) checked() bool {
	return p.outside > 0 || p.compressor == withGzip || p.compressor == withZlib
}

// crcBytes is the length of a checksum.
const crcBytes = 4

// maxChecksums bounds the number of checksums of a chunk. More than one is of no use.
const maxChecksums = 4

// unpacker holds memory for unpacking. The zero value is ready. Not safe for concurrent use.
type unpacker struct {
	zstd  bounded.Zstd
	gzip  gzip.Reader
	zlib  bounded.Zlib
	blosc blosc
}

// unpack unpacks a chunk to exactly size bytes. The result lies in the memory of dst or of packed.
func (u *unpacker) unpack(dst, packed []byte, p packing, size int) (plain []byte, err error) {
	for range p.outside {
		if packed, err = withoutCRC(packed); err != nil {
			return dst, err
		}
	}
	want := size + crcBytes*p.inside
	plain = packed
	if p.compressor != noCompressor {
		dst = bounded.Resized(dst, want)
		if plain, err = u.decompress(dst, packed, p.compressor); err != nil {
			return dst, fmt.Errorf("%d bytes of %s: %w", len(packed), p.compressor, err)
		}
	}
	if len(plain) != want {
		return dst, fmt.Errorf("it unpacks to %d bytes, %d expected from its shape", len(plain), want)
	}
	for range p.inside {
		if plain, err = withoutCRC(plain); err != nil {
			return dst, err
		}
	}
	return plain, nil
}

// decompress fills dst exactly.
func (u *unpacker) decompress(dst, packed []byte, compressor string) (plain []byte, err error) {
	switch compressor {
	case withBlosc:
		return dst, u.decodeBlosc(dst, packed)
	case withZstd:
		return u.zstd.Unpack(dst, packed)
	case withGzip:
		if err = u.gzip.Reset(bytes.NewReader(packed)); err != nil {
			return nil, err
		}
		return dst, bounded.Fill(dst, &u.gzip)
	}
	return dst, u.zlib.Fill(dst, packed)
}

// close frees the decoder.
func (u *unpacker) close() { u.zstd.Close() }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// withoutCRC verifies and removes the CRC-32C at the end of b.
func withoutCRC(b []byte) ([]byte, error) {
	n := len(b) - crcBytes
	if n < 0 {
		return nil, fmt.Errorf("it has %d bytes, too few for a checksum of %d", len(b), crcBytes)
	}
	if got, want := crc32.Checksum(b[:n], castagnoli), binary.LittleEndian.Uint32(b[n:]); got != want {
		return nil, fmt.Errorf("the checksum of %d bytes is %08x, the stored one is %08x", n, got, want)
	}
	return b[:n], nil
}
