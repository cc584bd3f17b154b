package zarr

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pierrec/lz4/v4"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// A blosc 1 chunk has a header, the offsets of the blocks, and the blocks. A block has one stream, or one stream per byte of the element type.
const (
	bloscHeader     = 16
	bloscVersion    = 2   // format version, the last of blosc 1
	bloscMaxSplits  = 16  // largest type, in bytes, whose blocks are split
	bloscMinSplit   = 128 // fewest elements of a split block
	bloscLeastBlock = 16  // bytes; c-blosc makes blocks below 128 bytes only for single blocks or wide types
)

// Flags of the header.
const (
	bloscBytes   = 1 << 0 // bytes are shuffled
	bloscStored  = 1 << 1 // neither packed nor shuffled
	bloscBits    = 1 << 2 // bits are shuffled
	bloscUnsplit = 1 << 4
)

// The supported stream formats, in the header's upper three bits.
const (
	bloscLZ4  = 1 // also LZ4HC
	bloscZlib = 3
	bloscZstd = 4
)

var bloscOthers = map[byte]string{0: "BloscLZ", 2: "Snappy"}

// blosc is the header of the current chunk and memory for unpacking.
type blosc struct {
	flags      byte
	typeBytes  int
	blockBytes int
	packed     []byte // the whole chunk
	block      []byte // an unpacked block, still shuffled
}

// decodeBlosc unpacks a chunk into dst, which it must fill.
func (u *unpacker) decodeBlosc(dst, packed []byte) error {
	b := &u.blosc
	if err := b.read(packed, len(dst)); err != nil {
		return err
	}
	defer func() { b.packed = nil }()
	if b.flags&bloscStored != 0 {
		if len(b.packed) < bloscHeader+len(dst) {
			return fmt.Errorf("%d bytes stored, %d expected", len(b.packed)-bloscHeader, len(dst))
		}
		copy(dst, b.packed[bloscHeader:])
		return nil
	}
	for i := 0; i*b.blockBytes < len(dst); i++ {
		at := i * b.blockBytes
		if err := u.decodeBlock(dst[at:min(at+b.blockBytes, len(dst))], i); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

// read reads the header of a chunk, which must unpack to size bytes.
func (b *blosc) read(packed []byte, size int) error {
	le := binary.LittleEndian
	if len(packed) < bloscHeader {
		return fmt.Errorf("it has %d bytes, a header of %d expected: copy the store again", len(packed), bloscHeader)
	}
	holds, block, all := le.Uint32(packed[4:]), le.Uint32(packed[8:]), le.Uint32(packed[12:])
	b.flags, b.typeBytes, b.blockBytes = packed[2], int(packed[3]), int(block)
	format := b.flags >> 5
	switch {
	case packed[0] == 0 || packed[0] > bloscVersion:
		return tiff.Unread("its version is %d, 1 or %d expected: write the store with blosc 1, or without blosc", packed[0], bloscVersion)
	case uint64(holds) != uint64(size):
		return fmt.Errorf("it unpacks to %d bytes, %d expected from its shape", holds, size)
	case uint64(all) > uint64(len(packed)):
		return fmt.Errorf("its header gives it %d bytes", all)
	case all < bloscHeader:
		return fmt.Errorf("its header gives it %d bytes, at least %d expected", all, bloscHeader)
	case b.flags&bloscStored == 0 && format != bloscLZ4 && format != bloscZlib && format != bloscZstd:
		return tiff.Unread("it is packed with %s, LZ4, Zlib or Zstd expected: write the store with one of these", nameOf(format))
	case b.typeBytes == 0 || b.blockBytes == 0 || b.flags&bloscStored == 0 && size/b.blockBytes > size/bloscLeastBlock+1:
		return fmt.Errorf("it has blocks of %d bytes and elements of %d, so it is damaged: copy the store again", b.blockBytes, b.typeBytes)
	}
	b.packed = packed[:all]
	return nil
}

func nameOf(format byte) string {
	if name := bloscOthers[format]; name != "" {
		return name
	}
	return fmt.Sprintf("format %d", format)
}

// decodeBlock unpacks block i to dst and undoes its shuffle.
func (u *unpacker) decodeBlock(dst []byte, i int) error {
	b := &u.blosc
	bytes := b.flags&bloscBytes != 0 && b.typeBytes > 1
	bits := b.flags&bloscBits != 0 && len(dst) >= b.typeBytes
	to := dst
	if bytes || bits {
		b.block = bounded.Resized(b.block, len(dst))
		to = b.block
	}
	if err := u.decodeStreams(to, i); err != nil {
		return err
	}
	switch {
	case bytes:
		bounded.Unshuffle(dst, to, b.typeBytes)
	case bits:
		unshuffleBits(dst, to, b.typeBytes)
	}
	return nil
}

var errBloscEnds = errors.New("it reaches beyond the end of the chunk, which is damaged: copy the store again")

// decodeStreams unpacks the streams of block i.
func (u *unpacker) decodeStreams(dst []byte, i int) error {
	b := &u.blosc
	at := bloscHeader + 4*i
	if at+4 > len(b.packed) {
		return errBloscEnds
	}
	at = int(binary.LittleEndian.Uint32(b.packed[at:]))
	streams := b.streams(len(dst))
	each := len(dst) / streams
	for s := range streams {
		if at < bloscHeader || at > len(b.packed)-4 {
			return errBloscEnds
		}
		n := int(binary.LittleEndian.Uint32(b.packed[at:]))
		at += 4
		if n > len(b.packed)-at {
			return errBloscEnds
		}
		if err := u.decodeStream(dst[s*each:(s+1)*each], b.packed[at:at+n]); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// streams returns the number of streams in a block of the given size.
func (b *blosc) streams(block int) int {
	split := b.flags&bloscUnsplit == 0 && b.typeBytes <= bloscMaxSplits && block == b.blockBytes && block/b.typeBytes >= bloscMinSplit
	if split && block%b.typeBytes == 0 {
		return b.typeBytes
	}
	return 1
}

// decodeStream fills dst; a stream of dst's length is not compressed.
func (u *unpacker) decodeStream(dst, packed []byte) (err error) {
	if len(packed) == len(dst) {
		copy(dst, packed)
		return nil
	}
	n := len(dst)
	switch u.blosc.flags >> 5 {
	case bloscLZ4:
		n, err = lz4.UncompressBlock(packed, dst)
	case bloscZstd:
		var plain []byte
		plain, err = u.zstd.Unpack(dst, packed)
		n = len(plain)
	case bloscZlib:
		err = u.zlib.Fill(dst, packed)
	}
	if err == nil && n != len(dst) {
		err = fmt.Errorf("%d bytes when unpacked, %d expected", n, len(dst))
	}
	return err
}
