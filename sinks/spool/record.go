package spool

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"driftscope/internal/flow/latent"
	"driftscope/sinks/message"
)

// Sizes for the search for intact records in a segment.
const (
	leastBody  = 2 // bytes of a record after its head, at least: two lengths
	mostBody   = message.MaxRecord + 1<<10
	mostKind   = 32                        // largest number of letters of a kind
	searchHead = spoolHead + leastBody + 1 // bytes that show whether a record may begin there
	searchStep = 64 << 10
)

// errTorn reports that no intact record begins at a position.
var errTorn = errors.New("the record is damaged")

// check returns the checksum of a record: of the bytes after its head and of its position.
func check(body []byte, at Position) uint32 {
	var place [16]byte
	binary.LittleEndian.PutUint64(place[:], at.segment)
	binary.LittleEndian.PutUint64(place[8:], uint64(at.offset))
	return crc32.Update(crc32.ChecksumIEEE(body), crc32.IEEETable, place[:])
}

// seal writes the checksums of consecutive records that begin at a position.
func seal(records []byte, at Position) {
	for len(records) > 0 {
		n := spoolHead + int(binary.LittleEndian.Uint32(records))
		binary.LittleEndian.PutUint32(records[4:], check(records[spoolHead:n], at))
		records, at.offset = records[n:], at.offset+int64(n)
	}
}

// read returns the record at offset and its length, or errTorn.
func (c *segment) read(offset int64) (r Record, n int64, err error) {
	var head [spoolHead]byte
	if err := c.bytes(head[:], offset); err != nil {
		return r, 0, err
	}
	length := int64(binary.LittleEndian.Uint32(head[:]))
	if length < leastBody || length > mostBody || offset+spoolHead+length > c.size {
		return r, 0, errTorn
	}
	body := make([]byte, length)
	if err := c.bytes(body, offset+spoolHead); err != nil {
		return r, 0, err
	}
	kind, id := int(body[0]), int(body[1])
	sum := binary.LittleEndian.Uint32(head[4:])
	if sum != check(body, Position{c.number, offset}) && sum != crc32.ChecksumIEEE(body) || leastBody+kind+id > len(body) {
		return r, 0, errTorn
	}
	text := body[leastBody:]
	return Record{Kind: latent.Kind(text[:kind]), ID: string(text[kind : kind+id]), Line: text[kind+id:]}, spoolHead + length, nil
}

// bytes fills to from offset, or returns errTorn if the file is too short.
func (c *segment) bytes(to []byte, offset int64) error {
	_, err := c.file.ReadAt(to, offset)
	if errors.Is(err, io.EOF) {
		return errTorn
	}
	return err
}

// next returns the first intact record from offset on, its beginning and its end. Both are the end of the segment if there is none.
func (c *segment) next(offset int64) (r Record, at, after int64, err error) {
	for at = offset; at < c.size; {
		r, n, err := c.read(at)
		if err == nil {
			return r, at, at + n, nil
		}
		if !errors.Is(err, errTorn) {
			return r, at, at, err
		}
		if at, err = c.likely(at + 1); err != nil {
			return r, at, at, err
		}
	}
	return r, c.size, c.size, nil
}

// likely returns the first position from offset on at which a record may begin, judged by its lengths and the first letter of its kind, or the end of the
// segment.
func (c *segment) likely(offset int64) (int64, error) {
	var piece [searchStep]byte
	for ; ; offset += searchStep - searchHead + 1 {
		n, err := c.file.ReadAt(piece[:], offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return offset, err
		}
		for i := range max(n-searchHead+1, 0) {
			length := int64(binary.LittleEndian.Uint32(piece[i:]))
			kind, id, letter := int64(piece[i+spoolHead]), int64(piece[i+spoolHead+1]), piece[i+spoolHead+leastBody]
			if length <= mostBody && leastBody+kind+id <= length && kind > 0 && kind <= mostKind && 'a' <= letter && letter <= 'z' {
				return offset + int64(i), nil
			}
		}
		if n < searchStep {
			return c.size, nil
		}
	}
}
