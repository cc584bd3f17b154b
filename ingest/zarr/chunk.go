package zarr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"time"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// errMissing reports a chunk that was never written.
var errMissing = errors.New("the chunk is missing")

// fileState holds the properties that change while a file is written.
type fileState struct {
	size     int64
	modified time.Time
}

// chunks reads an array's chunks and caches the state of their files. Not safe for concurrent use.
type chunks struct {
	store fs.FS
	array *array

	unpacker unpacker
	packed   []byte // packed bytes of the last chunk, or of a shard's index
	plain    []byte
	unsure   bool // a chunk read since the last reset is doubtful

	shardKey   string // key of the shard whose index was read last
	shardState fileState
	entries    []byte // its index without checksums
	grid       []int
}

// stored is the position of a chunk in a file.
type stored struct {
	key   string
	state fileState
	entry int // index in the shard
}

// locate returns where the chunk at a grid position is stored, or errMissing if its file does not exist.
func (c *chunks) locate(grid []int) (at stored, err error) {
	c.grid = append(c.grid[:0], grid...)
	for i := range c.array.shard {
		at.entry = at.entry*c.array.shard[i] + grid[i]%c.array.shard[i]
		c.grid[i] = grid[i] / c.array.shard[i]
	}
	at.key = c.array.key(c.grid)
	info, err := fs.Stat(c.store, at.key)
	if c.array.guessed && c.array.separator == "." && errors.Is(err, fs.ErrNotExist) {
		nested := c.array.keyBy("/", c.grid)
		if there, found := fs.Stat(c.store, nested); found == nil {
			c.array.separator, at.key, info, err = "/", nested, there, nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return at, errMissing
	case err != nil:
		return at, err
	case !info.Mode().IsRegular():
		return at, fmt.Errorf("%s has mode %v, a file expected", at.key, info.Mode().Type())
	}
	at.state = fileState{info.Size(), info.ModTime()}
	return at, nil
}

// load returns the unpacked chunk at a grid position, valid until the next call, or nil if it was never written.
func (c *chunks) load(grid []int) (plain []byte, err error) {
	at, err := c.locate(grid)
	if err == nil {
		plain, err = c.read(&at)
	}
	if errors.Is(err, errMissing) {
		return nil, nil
	}
	c.unsure = c.unsure || err == nil && c.doubtful()
	return plain, err
}

// file opens the file of a located chunk, which may have been replaced since locate.
func (c *chunks) file(at *stored) (fs.File, io.ReaderAt, error) {
	file, err := c.store.Open(at.key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, errMissing
	}
	if err != nil {
		return nil, nil, err
	}
	info, err := file.Stat()
	r, random := file.(io.ReaderAt)
	if err == nil && !random {
		err = fmt.Errorf("%s cannot be read at a given offset", at.key)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	at.state = fileState{info.Size(), info.ModTime()}
	return file, r, nil
}

// read unpacks the located chunk. The bytes are valid until the next call. A file that changes during the read is torn.
func (c *chunks) read(at *stored) ([]byte, error) {
	file, r, err := c.file(at)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err = c.fetch(r, at); err == nil {
		var info fs.FileInfo
		if info, err = file.Stat(); err == nil && (fileState{info.Size(), info.ModTime()}) != at.state {
			err = fmt.Errorf("%w: the file is being written", ErrTorn)
		}
	}
	if err == nil {
		var plain []byte
		if plain, err = c.unpacker.unpack(c.plain, c.packed, c.array.packed, c.array.bytes()); err == nil {
			if c.array.packed.compressor != noCompressor {
				c.plain = plain[:cap(plain)]
			}
			return plain, nil
		}
		err = fmt.Errorf("%w: %w", ErrTorn, err)
	}
	if errors.Is(err, errMissing) {
		return nil, err
	}
	return nil, fmt.Errorf("%s: %w", at.key, err)
}

// fetch reads the packed bytes of a chunk.
func (c *chunks) fetch(r io.ReaderAt, at *stored) (err error) {
	from, n := int64(0), at.state.size
	if c.array.shard != nil {
		if err = c.readIndex(r, at); err != nil {
			return err
		}
		if from, n, err = c.entry(at); err != nil {
			return err
		}
	}
	if n > bounded.MaxPacked {
		return tiff.Unread("the chunk has %d bytes, at most %d expected: rewrite the store with smaller chunks", n, bounded.MaxPacked)
	}
	c.packed, err = exactly(c.packed, r, from, int(n))
	return err
}

// exactly reads n bytes into b and reuses its memory.
func exactly(b []byte, r io.ReaderAt, at int64, n int) ([]byte, error) {
	b = bounded.Resized(b, n)
	if got, err := r.ReadAt(b, at); got < n {
		if err == io.EOF {
			err = fmt.Errorf("%w: %d bytes at byte %d, %d expected", ErrTorn, got, at, n)
		}
		return b, err
	}
	return b, nil
}

// entryBytes is the length of an entry in a shard's index: offset and length of a chunk.
const entryBytes = 16

// readIndex makes a shard's index the current one. The next chunk reuses it while the file does not change.
func (c *chunks) readIndex(r io.ReaderAt, at *stored) (err error) {
	if c.shardKey == at.key && c.shardState == at.state {
		return nil
	}
	c.shardKey = ""
	n := entryBytes
	for _, side := range c.array.shard {
		n *= side
	}
	all := n + crcBytes*c.array.index.outside
	if at.state.size < int64(all) {
		return fmt.Errorf("%w: the shard has %d bytes, too few for its index of %d", ErrTorn, at.state.size, all)
	}
	from := at.state.size - int64(all)
	if c.array.indexFirst {
		from = 0
	}
	if c.packed, err = exactly(c.packed, r, from, all); err != nil {
		return err
	}
	plain, err := c.unpacker.unpack(nil, c.packed, c.array.index, n)
	if err != nil {
		return fmt.Errorf("%w: the shard's index: %w", ErrTorn, err)
	}
	c.entries = append(c.entries[:0], plain...)
	c.shardKey, c.shardState = at.key, at.state
	return nil
}

// entry returns the offset and the length of a chunk in the current shard.
func (c *chunks) entry(at *stored) (from, n int64, err error) {
	raw := c.entries[entryBytes*at.entry:]
	begin, length := binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint64(raw[8:])
	if begin == math.MaxUint64 && length == math.MaxUint64 {
		return 0, 0, errMissing
	}
	if size := uint64(at.state.size); length > size || begin > size-length {
		return 0, 0, fmt.Errorf("%w: a chunk of %d bytes at byte %d reaches beyond the shard's end at %d", ErrTorn, length, begin, size)
	}
	return int64(begin), int64(length), nil
}

// present reports whether the located chunk exists, at least in part. In a shard, the index must name it.
func (c *chunks) present(at *stored) error {
	if c.array.shard == nil || c.shardKey == at.key && c.shardState == at.state {
		if c.array.shard != nil {
			if _, _, err := c.entry(at); errors.Is(err, errMissing) {
				return err
			}
		}
		return nil
	}
	file, r, err := c.file(at)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := c.readIndex(r, at); err != nil {
		return nil // part of it exists
	}
	if _, _, err := c.entry(at); errors.Is(err, errMissing) {
		return err
	}
	return nil
}

// doubtful reports that the chunk read last may be incomplete. It has no checksum, and it ends in zeros, as if its file had been given its length before its
// content.
func (c *chunks) doubtful() bool {
	n := len(c.packed)
	return !c.array.packed.checked() && (c.array.shard == nil || c.array.indexFirst) && n >= 2 && c.packed[n-1] == 0 && c.packed[n-2] == 0
}
