package hdf5

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// The supported filters, by registered number.
const (
	deflateFilter  = 1
	shuffleFilter  = 2
	fletcherFilter = 3
	lzfFilter      = 32000
)

// otherFilters names some unsupported filters.
var otherFilters = map[int]string{4: "szip", 5: "n-bit", 6: "scale-offset", 307: "bzip2", 32001: "blosc", 32004: "LZ4", 32008: "bitshuffle", 32013: "ZFP", 32015: "Zstandard", 32026: "blosc 2"}

// maxFilters bounds the filters of a dataset.
const maxFilters = 8

// filter is one packing step.
type filter struct {
	kind int
	size int // element size in bytes, for shuffle
}

// readFilters reads the filters of the chunks.
func (d *dataset) readFilters(c *cursor) error {
	version, n := c.number(1), int(c.number(1))
	if version == 1 {
		c.take(6)
	} else if version != 2 {
		return tiff.Unread("its filters have version %d, 1 or 2 expected: rewrite the file with h5repack", version)
	}
	if n > maxFilters {
		return tiff.Unread("it has %d filters, at most %d expected: rewrite the file with fewer, for example with h5repack", n, maxFilters)
	}
	for range n {
		f := filter{kind: int(c.number(2))}
		name := 0
		if version == 1 || f.kind >= 256 {
			name = int(c.number(2))
		}
		c.take(2) // flags
		values := int(c.number(2))
		if version == 1 {
			name = (name + 7) &^ 7
		}
		c.take(name)
		for i := range values {
			if v := c.number(4); i == 0 && f.kind == shuffleFilter {
				f.size = int(v)
			}
			if c.short {
				return nil
			}
		}
		if version == 1 && values%2 == 1 {
			c.take(4)
		}
		d.filters = append(d.filters, f)
		switch f.kind {
		case deflateFilter, fletcherFilter, lzfFilter:
		case shuffleFilter:
			if f.size < 1 || f.size > bounded.MaxChunk {
				return fmt.Errorf("its shuffle has elements of %d bytes, at least 1 expected: the file is damaged, copy it again", f.size)
			}
		default:
			return tiff.Unread("its chunks are packed by filter %d (%s), which is not supported: write the file with deflate, shuffle, Fletcher-32 or LZF, as h5repack -f GZIP=1 does",
				f.kind, cmp.Or(otherFilters[f.kind], "unknown"))
		}
	}
	return nil
}

// unpacker holds memory for unpacking. The zero value is ready. Not safe for concurrent use.
type unpacker struct {
	zlib bounded.Zlib
	a, b []byte
}

// unpack undoes the filters in reverse order, without the ones in mask. The result must have size bytes. It is valid until the next call, or lies in packed.
func (u *unpacker) unpack(packed []byte, filters []filter, mask uint32, size int) (plain []byte, err error) {
	most := size + fletcherBytes*len(filters)
	plain = packed
	for i := len(filters) - 1; i >= 0; i-- {
		if mask&(1<<i) != 0 {
			continue
		}
		switch filters[i].kind {
		case deflateFilter:
			plain, err = u.inflate(plain, most)
		case lzfFilter:
			plain, err = expandLZF(u.next(most), plain)
		case shuffleFilter:
			dst := u.next(len(plain))
			bounded.Unshuffle(dst, plain, filters[i].size)
			plain = dst
		case fletcherFilter:
			plain, err = withoutFletcher(plain)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(plain) != size {
		return nil, fmt.Errorf("it unpacks to %d bytes, %d expected from its shape: the file is damaged, copy it again", len(plain), size)
	}
	return plain, nil
}

// next returns memory of n bytes that the previous step does not use.
func (u *unpacker) next(n int) []byte {
	u.a, u.b = u.b, bounded.Resized(u.a, n)
	return u.b
}

// inflate decompresses packed. A result of more than most bytes is an error.
func (u *unpacker) inflate(packed []byte, most int) ([]byte, error) {
	dst := u.next(most + 1)
	n, err := u.zlib.Most(dst, packed)
	if err == nil && n > most {
		err = fmt.Errorf("it unpacks to more than the %d bytes of its shape: the file is damaged, copy it again", most)
	}
	return dst[:n], err
}

// errLZF reports a damaged chunk.
var errLZF = errors.New("its LZF data are incomplete: the file is damaged, copy it again")

// expandLZF unpacks src into dst (Marc Lehmann's LibLZF 3). A byte b below 32 starts b + 1 literals. Any other byte starts a back reference. The length is its
// upper three bits plus 2; if they are 7, a further byte of length follows. The distance is a number of 13 bits plus 1.
func expandLZF(dst, src []byte) ([]byte, error) {
	to := 0
	for len(src) > 0 {
		control := int(src[0])
		src = src[1:]
		if control < 32 {
			n := control + 1
			if n > len(src) || n > len(dst)-to {
				return nil, errLZF
			}
			to += copy(dst[to:], src[:n])
			src = src[n:]
			continue
		}
		n := control >> 5
		if n == 7 && len(src) > 0 {
			n += int(src[0])
			src = src[1:]
		}
		if len(src) == 0 {
			return nil, errLZF
		}
		from := to - (control&0x1f)<<8 - int(src[0]) - 1
		src = src[1:]
		if n += 2; from < 0 || n > len(dst)-to {
			return nil, errLZF
		}
		for range n { // the ranges may overlap
			dst[to] = dst[from]
			to, from = to+1, from+1
		}
	}
	return dst[:to], nil
}

// fletcherBytes is the length of a checksum.
const fletcherBytes = 4

// withoutFletcher verifies and removes the checksum at the end of b.
func withoutFletcher(b []byte) ([]byte, error) {
	n := len(b) - fletcherBytes
	if n < 0 {
		return nil, fmt.Errorf("it has %d bytes, too few for a checksum of %d: the file is damaged, copy it again", len(b), fletcherBytes)
	}
	if got, want := fletcher(b[:n]), binary.LittleEndian.Uint32(b[n:]); got != want {
		return nil, fmt.Errorf("the checksum of %d bytes is %08x, the stored one is %08x: the file is damaged, copy it again", n, got, want)
	}
	return b[:n], nil
}

// fletcher returns HDF5's Fletcher-32: 16-bit words, high byte first, folded to 16 bits.
func fletcher(b []byte) uint32 {
	const fold = 360 // words whose sum fits in 32 bits
	var low, high uint32
	for len(b) > 1 {
		n := min(len(b)/2, fold)
		for ; n > 0; n-- {
			low += uint32(b[0])<<8 | uint32(b[1])
			high += low
			b = b[2:]
		}
		low, high = low&0xffff+low>>16, high&0xffff+high>>16
	}
	if len(b) == 1 {
		low += uint32(b[0]) << 8
		high += low
		low, high = low&0xffff+low>>16, high&0xffff+high>>16
	}
	low, high = low&0xffff+low>>16, high&0xffff+high>>16
	return high<<16 | low
}
