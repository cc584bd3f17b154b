package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// Bounds on a store.
const (
	maxAxes     = 16
	maxSide     = 1 << 40 // side of a shape
	maxChunk    = bounded.MaxChunk
	maxInShard  = 1 << 20 // chunks per shard: the index then has 16 MiB
	maxMetadata = 4 << 20 // bytes per metadata file
)

// ErrTorn marks the error of incomplete metadata or an incomplete chunk. It may pass while the store is being written.
var ErrTorn = errors.New("the store is torn")

// array is one resolution level, as its metadata describe it.
type array struct {
	folder string // in the store
	shape  []int
	chunk  []int // its sides
	shard  []int // chunks along each side of a shard; nil without shards
	stride []int // byte step per sample along each axis of an unpacked chunk

	samples tiff.Samples
	filled  []byte // unwritten sample, in the picture's format
	packed  packing

	prefix, separator string // parts of a chunk's key, which is the prefix and the grid position's numbers, joined by the separator
	guessed           bool   // the metadata name no separator: a dot in Zarr v2, or a slash if zarr-python 2 lost it when the array grew
	index             packing
	indexFirst        bool // a shard's index precedes its chunks
	names             []string
}

// bytes returns the length of an unpacked chunk.
func (a *array) bytes() int {
	n := a.samples.Bytes
	for _, side := range a.chunk {
		n *= side
	}
	return n
}

// perFile returns the number of samples along an axis in one file.
func (a *array) perFile(axis int) int {
	if a.shard == nil {
		return a.chunk[axis]
	}
	return a.chunk[axis] * a.shard[axis]
}

// check bounds the metadata of both versions and computes the strides. order lists the axes as stored, the slowest first.
func (a *array) check(order []int) error {
	n := len(a.shape)
	if n < 2 || n > maxAxes {
		return tiff.Unread("the array has %d axes, 2 to %d expected: export one of its pictures", n, maxAxes)
	}
	if len(a.chunk) != n || a.shard != nil && len(a.shard) != n || len(order) != n {
		return fmt.Errorf("chunks have %d axes (shards %d, storage order %d), %d expected from the shape: the metadata are damaged", len(a.chunk), len(a.shard), len(order), n)
	}
	bytes, inShard := a.samples.Bytes, 1
	for i, side := range a.shape {
		if side < 0 || side > maxSide {
			return fmt.Errorf("axis %d has length %d, 0 to %d expected: correct the store's metadata", i, side, maxSide)
		}
		if a.chunk[i] < 1 || a.chunk[i] > maxChunk/bytes {
			return tiff.Unread("chunks of %v samples of %d bytes are too large, at most %d MiB expected: rewrite the store with smaller chunks", a.chunk, a.samples.Bytes, maxChunk>>20)
		}
		bytes *= a.chunk[i]
		if a.shard != nil {
			if a.shard[i] < 1 || a.shard[i] > maxInShard/inShard {
				return tiff.Unread("shards have %v chunks, at most %d in all expected: rewrite the store with smaller shards", a.shard, maxInShard)
			}
			inShard *= a.shard[i]
		}
	}
	a.stride = make([]int, n)
	step := a.samples.Bytes
	for i := n - 1; i >= 0; i-- {
		axis := order[i]
		if axis < 0 || axis >= n || a.stride[axis] != 0 {
			return fmt.Errorf("the storage order of the axes is %v, each axis once expected: correct the store's metadata", order)
		}
		a.stride[axis] = step
		step *= a.chunk[axis]
	}
	return nil
}

// natural returns the order 0, 1, 2, ...
func natural(n int) (order []int) {
	for i := range n {
		order = append(order, i)
	}
	return order
}

// key returns the path of the chunk's or shard's file at a grid position.
func (a *array) key(grid []int) string { return a.keyBy(a.separator, grid) }

func (a *array) keyBy(separator string, grid []int) string {
	b := []byte(a.prefix)
	for i, n := range grid {
		if i > 0 {
			b = append(b, separator...)
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return path.Join(a.folder, string(b))
}

// openArray reads an array's metadata, of either version, in a folder of the store.
func openArray(store fs.FS, folder string) (*array, error) {
	if !fs.ValidPath(folder) {
		return nil, fmt.Errorf("the path of a level is %.80q, a path within the store expected: correct the store's metadata", folder)
	}
	a, name := &array{folder: folder}, path.Join(folder, v3Name)
	text, err := load(store, name)
	if err == nil {
		err = a.parseV3(text)
	} else if errors.Is(err, fs.ErrNotExist) {
		name = path.Join(folder, v2Name)
		if text, err = load(store, name); err == nil {
			err = a.parseV2(text)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// load reads a file of metadata.
func load(store fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(store, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxMetadata {
		return nil, fmt.Errorf("the metadata are of mode %v and %d bytes, a file of at most %d bytes expected: correct the store", info.Mode().Type(), info.Size(), maxMetadata)
	}
	file, err := store.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxMetadata+1))
	if err == nil && len(text) > maxMetadata {
		err = fmt.Errorf("the file has more than %d bytes: correct the store's metadata", maxMetadata)
	}
	return text, err
}

// parse parses JSON. Invalid JSON is an ErrTorn, because the file may be in the middle of a write.
func parse(text []byte, dst any) error {
	if !json.Valid(text) {
		return fmt.Errorf("%w: its %d bytes of metadata are not complete JSON: copy the store again", ErrTorn, len(text))
	}
	return json.Unmarshal(text, dst)
}

// same reports that two arrays differ at most in the length of their first axis or of the given axis.
func (a *array) same(b *array, axis int) bool {
	if len(a.shape) != len(b.shape) || !slices.Equal(a.chunk, b.chunk) || !slices.Equal(a.shard, b.shard) || a.samples != b.samples || a.packed != b.packed {
		return false
	}
	for i := range a.shape {
		if i != axis && a.shape[i] != b.shape[i] {
			return false
		}
	}
	return a.prefix == b.prefix && (a.separator == b.separator || a.guessed || b.guessed)
}

// separated checks the separator of keys.
func (a *array) separated(separator string) error {
	if separator != "." && separator != "/" {
		return fmt.Errorf("the separator of keys is %.20q, . or / expected: correct the store's metadata", separator)
	}
	a.separator = separator
	return nil
}

// known returns an error for an unexpected name.
func known(what, name string, expected []string) error {
	return tiff.Unread("%s %.40q, %s expected: convert the store", what, name, strings.Join(expected, ", "))
}

// Names are the names of metadata files. A store has at least one of them.
var Names = []string{v3Name, v2Name, v2Group, v2Attributes}
