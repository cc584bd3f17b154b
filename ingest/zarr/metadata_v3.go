package zarr

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"driftscope/ingest/tiff"
)

// v3Name is the metadata of a v3 array or group.
const v3Name = "zarr.json"

// named is an entry of v3's metadata with a name and a configuration. Some entries are only a name.
type named struct {
	Name          string          `json:"name"`
	Configuration json.RawMessage `json:"configuration"`
}

// UnmarshalJSON accepts a name or an object.
func (n *named) UnmarshalJSON(text []byte) error {
	if json.Unmarshal(text, &n.Name) == nil {
		return nil
	}
	type plain named
	return json.Unmarshal(text, (*plain)(n))
}

// configured decodes the configuration, if any, into dst.
func (n *named) configured(dst any) error {
	if len(n.Configuration) == 0 {
		return nil
	}
	if err := json.Unmarshal(n.Configuration, dst); err != nil {
		return fmt.Errorf("%.40s: %w", n.Name, err)
	}
	return nil
}

// arrayV3 is zarr.json of an array.
type arrayV3 struct {
	Format       int             `json:"zarr_format"`
	Node         string          `json:"node_type"`
	Shape        []int           `json:"shape"`
	Type         named           `json:"data_type"`
	Grid         named           `json:"chunk_grid"`
	Keys         named           `json:"chunk_key_encoding"`
	Fill         json.RawMessage `json:"fill_value"`
	Codecs       []named         `json:"codecs"`
	Names        []*string       `json:"dimension_names"`
	Transformers []named         `json:"storage_transformers"`
}

func (a *array) parseV3(text []byte) error {
	var m arrayV3
	if err := parse(text, &m); err != nil {
		return err
	}
	switch {
	case m.Format != 3 || m.Node != "array":
		return tiff.Unread("node_type is %.20q and zarr_format is %d, an array of format 3 expected: convert the store", m.Node, m.Format)
	case len(m.Transformers) > 0:
		return tiff.Unread("the array has the storage transformer %.40q, none expected: write the store without transformers", m.Transformers[0].Name)
	case m.Grid.Name != "regular":
		return known("chunk grid", m.Grid.Name, []string{"regular"})
	}
	var found bool
	if a.samples, found = namedSamples[m.Type.Name]; !found {
		return unread(m.Type.Name)
	}
	var grid struct {
		Sides []int `json:"chunk_shape"`
	}
	if err := m.Grid.configured(&grid); err != nil {
		return err
	}
	a.shape, a.chunk = m.Shape, grid.Sides
	for _, name := range m.Names {
		if name == nil {
			name = new(string)
		}
		a.names = append(a.names, *name)
	}
	if err := a.keysV3(&m.Keys); err != nil {
		return err
	}
	var err error
	if a.filled, err = fill(a.samples, m.Fill); err != nil {
		return err
	}
	order, err := a.codecsV3(m.Codecs, false)
	if err != nil {
		return err
	}
	return a.check(order)
}

// keysV3 reads the naming of chunks.
func (a *array) keysV3(keys *named) error {
	var c struct {
		Separator string `json:"separator"`
	}
	switch keys.Name {
	case "default":
		c.Separator = "/"
	case "v2":
		c.Separator = "."
	default:
		return known("chunk key encoding", keys.Name, []string{"default", "v2"})
	}
	if err := keys.configured(&c); err != nil {
		return err
	}
	if keys.Name == "default" {
		a.prefix = "c" + c.Separator
	}
	return a.separated(c.Separator)
}

// codecsV3 reads the packing of chunks and returns the storage order of their axes. inside is true for the chunks inside a shard.
func (a *array) codecsV3(codecs []named, inside bool) (order []int, err error) {
	order = natural(len(a.chunk))
	for len(codecs) > 0 && codecs[0].Name == "transpose" {
		if order, err = transposedBy(&codecs[0], order); err != nil {
			return nil, err
		}
		codecs = codecs[1:]
	}
	if len(codecs) == 0 {
		return nil, errors.New("no codec converts a chunk to bytes: the metadata are damaged")
	}
	first, rest := &codecs[0], codecs[1:]
	switch {
	case first.Name == "sharding_indexed" && !inside && len(rest) == 0 && slices.Equal(order, natural(len(order))):
		return a.shardsV3(first)
	case first.Name == "sharding_indexed":
		return nil, tiff.Unread("shards contain shards, or are transposed or packed, plain shards expected: convert the store")
	case first.Name != "bytes":
		return nil, known("codec", first.Name, []string{"bytes", "sharding_indexed", "transpose"})
	}
	var c struct {
		Endian string `json:"endian"`
	}
	if err := first.configured(&c); err != nil {
		return nil, err
	}
	a.samples.Big = c.Endian == "big"
	a.packed, err = packingV3(rest)
	return order, err
}

// transposedBy applies a transpose codec to a storage order.
func transposedBy(codec *named, before []int) (order []int, err error) {
	var c struct {
		Order []int `json:"order"`
	}
	if err := codec.configured(&c); err != nil {
		return nil, err
	}
	if len(c.Order) != len(before) {
		return nil, fmt.Errorf("transpose has the order %v, %d axes expected: correct the store's metadata", c.Order, len(before))
	}
	for _, axis := range c.Order {
		if axis < 0 || axis >= len(before) {
			return nil, fmt.Errorf("transpose has the order %v, axes 0 to %d expected: correct the store's metadata", c.Order, len(before)-1)
		}
		order = append(order, before[axis])
	}
	return order, nil
}

// packingV3 reads the codecs after the one that converts a chunk to bytes.
func packingV3(codecs []named) (p packing, err error) {
	for i := range codecs {
		switch name := codecs[i].Name; {
		case name == "crc32c" && p.inside+p.outside == maxChecksums:
			return p, fmt.Errorf("chunks have more than %d checksums, one expected: convert the store", maxChecksums)
		case name == "crc32c" && p.compressor == noCompressor:
			p.inside++
		case name == "crc32c":
			p.outside++
		case !slices.Contains(compressors, name):
			return p, known("codec", name, append([]string{"crc32c"}, compressors...))
		case p.compressor != noCompressor:
			return p, tiff.Unread("chunks are packed by %s and %s, one compressor expected: convert the store", p.compressor, name)
		default:
			p.compressor = name
		}
	}
	if p.compressor == noCompressor { // without a compressor, checksums count as outside
		p.inside, p.outside = 0, p.inside
	}
	return p, nil
}

// shardsV3 reads the description of shards. The caller has set a.chunk to the sides of a shard; shardsV3 replaces them by the sides of a chunk.
func (a *array) shardsV3(codec *named) (order []int, err error) {
	c := struct {
		Sides  []int   `json:"chunk_shape"`
		Codecs []named `json:"codecs"`
		Index  []named `json:"index_codecs"`
		Where  string  `json:"index_location"`
	}{Where: "end"}
	if err := codec.configured(&c); err != nil {
		return nil, err
	}
	if len(c.Sides) != len(a.chunk) {
		return nil, fmt.Errorf("chunks have %d axes and shards %d, the same number expected: the metadata are damaged", len(c.Sides), len(a.chunk))
	}
	a.shard = make([]int, len(c.Sides))
	for i, side := range c.Sides {
		if side < 1 || a.chunk[i]%side != 0 {
			return nil, fmt.Errorf("chunks of %v do not fill shards of %v, whole chunks expected: the metadata are damaged", c.Sides, a.chunk)
		}
		a.shard[i] = a.chunk[i] / side
	}
	a.chunk = c.Sides
	if c.Where != "end" && c.Where != "start" {
		return nil, fmt.Errorf("the index_location of shards is %.20q, start or end expected: correct the store's metadata", c.Where)
	}
	a.indexFirst = c.Where == "start"
	if len(c.Index) == 0 || c.Index[0].Name != "bytes" {
		return nil, errors.New("the index of shards has no codec bytes: the metadata are damaged")
	}
	var e struct {
		Endian string `json:"endian"`
	}
	if err := c.Index[0].configured(&e); err != nil || e.Endian == "big" {
		return nil, tiff.Unread("the index of shards is not little-endian: convert the store")
	}
	if a.index, err = packingV3(c.Index[1:]); err != nil || a.index.compressor != noCompressor {
		return nil, tiff.Unread("the index of shards is packed (%s, %v), only a checksum expected: convert the store", a.index.compressor, err)
	}
	return a.codecsV3(c.Codecs, true)
}
