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

	"driftscope/ingest/ndarray"
	"driftscope/ingest/tiff"
)

// The bounds on a store.
const (
	maxAxes     = 16
	maxSide     = 1 << 40 // of a shape
	maxChunk    = ndarray.MaxChunk
	maxInShard  = 1 << 20 // chunks of a shard: its index is 16 MiB then
	maxMetadata = 4 << 20 // bytes of a file of metadata
)

// ErrTorn is found in the error of metadata or of a chunk that is not whole. While the store is written it may pass.
var ErrTorn = errors.New("the store is torn")

// array is one level of a picture, as its metadata describe it.
type array struct {
	folder string // in the store
	shape  []int
	chunk  []int // its sides
	shard  []int // chunks along each side of a shard; nil where there are none
	stride []int // bytes of an unpacked chunk from one sample to the next along each axis

	samples tiff.Samples
	filled  []byte // a sample that was not written, as a picture has it
	packed  packing

	prefix, separator string // of a chunk's key: prefix, then numbers between separators
	guessed           bool   // the metadata name no separator: of Zarr v2 it is the dot then, but zarr-python 2 loses the slash when an array grows
	index             packing
	indexFirst        bool // a shard's index lies in front of its chunks
	names             []string
}

// bytes is the length of an unpacked chunk.
func (a *array) bytes() int {
	n := a.samples.Bytes
	for _, side := range a.chunk {
		n *= side
	}
	return n
}

// perFile are the samples along an axis that one file holds.
func (a *array) perFile(axis int) int {
	if a.shard == nil {
		return a.chunk[axis]
	}
	return a.chunk[axis] * a.shard[axis]
}

// check holds what both versions say to the bounds, and lays out the strides for axes stored in the given order, the slowest first.
func (a *array) check(order []int) error {
	n := len(a.shape)
	if n < 2 || n > maxAxes {
		return tiff.Unread("an array of %d axes, 2 to %d expected: export one of its pictures", n, maxAxes)
	}
	if len(a.chunk) != n || a.shard != nil && len(a.shard) != n || len(order) != n {
		return fmt.Errorf("chunks of %d axes (shards of %d, stored as %d), %d expected as its shape has: the metadata are damaged", len(a.chunk), len(a.shard), len(order), n)
	}
	bytes, inShard := a.samples.Bytes, 1
	for i, side := range a.shape {
		if side < 0 || side > maxSide {
			return fmt.Errorf("axis %d is %d long, 0 to %d expected: correct the store's metadata", i, side, maxSide)
		}
		if a.chunk[i] < 1 || a.chunk[i] > maxChunk/bytes {
			return tiff.Unread("chunks of %v samples of %d bytes, at most %d MiB expected: write the store in smaller ones", a.chunk, a.samples.Bytes, maxChunk>>20)
		}
		bytes *= a.chunk[i]
		if a.shard != nil {
			if a.shard[i] < 1 || a.shard[i] > maxInShard/inShard {
				return tiff.Unread("shards of %v chunks, at most %d expected: write the store in smaller ones", a.shard, maxInShard)
			}
			inShard *= a.shard[i]
		}
	}
	a.stride = make([]int, n)
	step := a.samples.Bytes
	for i := n - 1; i >= 0; i-- {
		axis := order[i]
		if axis < 0 || axis >= n || a.stride[axis] != 0 {
			return fmt.Errorf("the axes are stored in the order %v, each once expected: correct the store's metadata", order)
		}
		a.stride[axis] = step
		step *= a.chunk[axis]
	}
	return nil
}

// natural is the order 0, 1, 2, ...
func natural(n int) (order []int) {
	for i := range n {
		order = append(order, i)
	}
	return order
}

// key is the path of the file that has the chunk, or the shard, at a place of the grid.
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

// openArray reads the metadata of an array of either version in a folder of the store.
func openArray(store fs.FS, folder string) (*array, error) {
	if !fs.ValidPath(folder) {
		return nil, fmt.Errorf("a level lies at %.80q, a path within the store expected: correct the store's metadata", folder)
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
		return nil, fmt.Errorf("%v of %d bytes, a file of at most %d expected: correct the store's metadata", info.Mode().Type(), info.Size(), maxMetadata)
	}
	file, err := store.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxMetadata+1))
	if err == nil && len(text) > maxMetadata {
		err = fmt.Errorf("more than %d bytes, a file of at most as many expected: correct the store's metadata", maxMetadata)
	}
	return text, err
}

// parse reads JSON. What is no JSON may be so for now, because it is being written.
func parse(text []byte, dst any) error {
	if !json.Valid(text) {
		return fmt.Errorf("%w: no whole JSON in %d bytes: copy the store again", ErrTorn, len(text))
	}
	return json.Unmarshal(text, dst)
}

// same says that two arrays differ in nothing but how far they go along their first axis, or the given one.
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
		return fmt.Errorf("keys are separated by %.20q, . or / expected: correct the store's metadata", separator)
	}
	a.separator = separator
	return nil
}

// known is an error of a name that is none of those expected.
func known(what, name string, expected []string) error {
	return tiff.Unread("%s %.40q, %s expected: convert the store", what, name, strings.Join(expected, ", "))
}

// Names are the files of which a store has one at least.
var Names = []string{v3Name, v2Name, v2Group, v2Attributes}
