package hdf5

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"driftscope/ingest/bounded"
)

// overlaid returns a B-tree of chunks with overlapping nodes. Each node lists everything after it, so the total of entries grows with the square of the file's
// size.
func overlaid(size, axes int) []byte {
	const step = 64
	key := 8 + 8*(axes+1)
	b := make([]byte, size)
	for at := 0; at+24 < size; at += step {
		copy(b[at:], "TREE\x01\x00")
		binary.LittleEndian.PutUint16(b[at+6:], uint16(min((size-at-24)/(key+8), 65535)))
	}
	return b
}

// TestOverlaid: reading overlapping structures stops at the bounds of bytes, names and chunks.
func TestOverlaid(t *testing.T) {
	const read = 16 << 20 // remaining allowance
	b := overlaid(1<<20, 3)
	f := &file{part: bounded.File{R: bytes.NewReader(b), Size: int64(len(b))}, read: maxMetadata - read}
	entries := 0
	var err error
	for at := uint64(0); err == nil && at < uint64(len(b)); at += 64 {
		err = f.tree(at, node{kind: chunkTree, key: 8 + 8*4, seen: map[uint64]bool{}}, func(*cursor, uint64) error {
			entries++
			return nil
		})
	}
	if err == nil || !strings.Contains(err.Error(), "headers, names and indexes have more than 512 MiB") || entries > read/48 {
		t.Errorf("%d entries, %v", entries, err)
	}

	s := search{seen: map[uint64]bool{}}
	if err := s.more(maxObjects); err != nil {
		t.Error(err)
	}
	if err := s.more(1); err == nil || !strings.Contains(err.Error(), "more than 65536 names") {
		t.Errorf("%v", err)
	}

	c := chunks{listed: map[int]stored{}, entries: maxListed - 3, total: 1 << 30}
	a := array{chunks: &c, size: 8}
	if err := a.takeFrom(&cursor{b: make([]byte, 8*3)}, 0, 3); err != nil {
		t.Error(err)
	}
	if err := a.takeFrom(&cursor{b: make([]byte, 8)}, 3, 1); err == nil || !strings.Contains(err.Error(), "more than 4194304 chunks") {
		t.Errorf("%v", err)
	}
}
