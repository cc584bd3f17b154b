package zarr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"driftscope/ingest/tiff"
)

// put adds a file.
func put(store fstest.MapFS, name string, data []byte) { store[name] = &fstest.MapFile{Data: data} }

const ngff = `{"multiscales":[{"version":"0.4","axes":[{"name":"t","type":"time","unit":"second"},{"name":"y","type":"space"},{"name":"x","type":"space"}],` +
	`"datasets":[{"path":"0","coordinateTransformations":[{"type":"scale","scale":[0.5,1,1]}]}]}]}`

// filmV2 describes four frames of 4x6 16-bit pixels in chunks of 4x3; %s is the compressor.
const filmV2 = `{"zarr_format":2,"shape":[4,4,6],"chunks":[1,4,3],"dtype":"<u2","compressor":%s,"filters":null,"fill_value":7,"order":"C","dimension_separator":"/"}`

// film returns a v2 store with the given chunks.
func film(compressor string, chunks map[string][]byte) fstest.MapFS {
	store := fstest.MapFS{}
	put(store, v2Attributes, []byte(ngff))
	put(store, "0/"+v2Name, fmt.Appendf(nil, filmV2, compressor))
	for key, data := range chunks {
		put(store, "0/"+key, data)
	}
	return store
}

// flat returns a raw chunk of a film with one value.
func flat(v uint16) (b []byte) {
	for range 4 * 3 {
		b = binary.LittleEndian.AppendUint16(b, v)
	}
	return b
}

func opened(t testing.TB, store fs.FS) *Image {
	t.Helper()
	image, err := Open(store, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(image.Close)
	return image
}

// TestMissing: missing chunks are counted and have the fill value. The last frame is the last one with any chunk.
func TestMissing(t *testing.T) {
	image := opened(t, film("null", map[string][]byte{"0/0/0": flat(1), "0/0/1": flat(2), "2/0/1": flat(3)}))
	var picture tiff.Image
	for n, want := range []struct {
		missing     int
		left, right float64
	}{{0, 1, 2}, {2, 7, 7}, {1, 7, 3}, {2, 7, 7}} {
		missing, _, err := image.Read(&picture, Place{Time: n})
		if err != nil || missing != want.missing || sample(&picture, 3, 2) != want.left || sample(&picture, 0, 3) != want.right {
			t.Errorf("frame %d: %d missing, %g and %g, %v; %+v expected", n, missing, sample(&picture, 3, 2), sample(&picture, 0, 3), err, want)
		}
		if s, err := image.State(Place{Time: n}); err != nil || s.Present != 2-want.missing {
			t.Errorf("frame %d: %d present, %v", n, s.Present, err)
		}
	}
	if last, err := image.Last(Place{}, false); last != 2 || err != nil {
		t.Errorf("the last is %d, %v; 2 expected", last, err)
	}
	for n, want := range []int{2, 2, -1, -1} {
		if got := image.Later(Place{Time: n}, 3); got != want {
			t.Errorf("behind frame %d: %d, %d expected", n, got, want)
		}
	}
}

// TestBeyond: frames that the metadata do not count yet are found only on request.
func TestBeyond(t *testing.T) {
	image := opened(t, film("null", map[string][]byte{"3/0/0": flat(1), "11/0/0": flat(2), "11/0/0.abc.partial": flat(2), "12x/0/0": flat(2)}))
	for beyond, want := range map[bool]int{false: 3, true: 11} {
		if last, err := image.Last(Place{}, beyond); last != want || err != nil {
			t.Errorf("the last is %d, %v; %d expected", last, err, want)
		}
	}
}

// TestTogether: unwritten frames at the end of a chunk with several frames do not count.
func TestTogether(t *testing.T) {
	store := fstest.MapFS{}
	put(store, v2Name, []byte(`{"zarr_format":2,"shape":[100,1,2],"chunks":[4,1,2],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":[]}`))
	put(store, "0.0.0", []byte{1, 2, 3, 4, 5, 6, 7, 8})
	put(store, "1.0.0", []byte{9, 9, 0, 0, 8, 8, 0, 0})
	image := opened(t, store)
	if last, err := image.Last(Place{}, false); last != 6 || err != nil || image.Together() != 4 {
		t.Errorf("the last is %d, %v, of %d a chunk; 6 of 4 expected", last, err, image.Together())
	}
}

// TestGuessed: if v2 metadata name no separator, chunks are found with either one, because zarr-python 2.13 removes the name when a nested array grows.
func TestGuessed(t *testing.T) {
	for _, keys := range [][2]string{{"0.0.0", "2.0.0"}, {"0/0/0", "2/0/0"}} {
		store := fstest.MapFS{}
		text := `{"zarr_format":2,"shape":[9,1,2],"chunks":[1,1,2],"dtype":"|u1","compressor":null,"fill_value":0,"order":"C","filters":null%s}`
		put(store, v2Name, fmt.Appendf(nil, text, `,"dimension_separator":"/"`))
		before := opened(t, store)
		put(store, v2Name, fmt.Appendf(nil, text, ""))
		image := opened(t, store)
		put(store, keys[0], []byte{1, 2})
		put(store, keys[1], []byte{3, 4})
		last, err := image.Last(Place{}, false)
		var picture tiff.Image
		missing, _, unread := image.Read(&picture, Place{Time: 2})
		if last != 2 || err != nil || missing != 0 || unread != nil || picture.Pix[1] != 4 {
			t.Errorf("%v: the last is %d, %v; %d missing, %v", keys, last, err, missing, unread)
		}
		if err := before.Again(); err != nil {
			t.Errorf("%v: %v", keys, err)
		}
	}
}

// packedBy returns a chunk of a film for each compressor that TestTorn tests.
func packedBy(t testing.TB) map[string][]byte {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	all := unzipped(t, "v2.zip")
	return map[string][]byte{"null": flat(300), `{"id":"zstd"}`: encoder.EncodeAll(flat(300), nil), `{"id":"blosc"}`: bloscStoring(flat(300)), "gzip of others": all["gzip/0/0/0/0/0/0"].Data}
}

// bloscStoring returns an uncompressed blosc chunk.
func bloscStoring(plain []byte) []byte {
	le := binary.LittleEndian
	b := []byte{2, 1, bloscStored | bloscLZ4<<5, 2}
	b = le.AppendUint32(le.AppendUint32(b, uint32(len(plain))), uint32(len(plain)))
	return append(le.AppendUint32(b, uint32(len(plain)+bloscHeader)), plain...)
}

// TestTorn: a chunk that is cut off anywhere gives no pixels.
func TestTorn(t *testing.T) {
	for compressor, data := range packedBy(t) {
		if !strings.HasPrefix(compressor, "gzip") {
			for n := range len(data) + 1 {
				image := opened(t, film(compressor, map[string][]byte{"0/0/0": data[:n], "0/0/1": data}))
				var picture tiff.Image
				missing, _, err := image.Read(&picture, Place{})
				if whole := n == len(data); whole != (err == nil) || missing > 0 || !whole && !errors.Is(err, ErrTorn) {
					t.Errorf("%s with %d of %d bytes: %v", compressor, n, len(data), err)
				}
			}
			continue
		}
		all := unzipped(t, "v2.zip")
		for n := range data {
			put(all, "gzip/0/0/0/0/0/0", data[:n])
			var picture tiff.Image
			if _, _, err := opened(t, within(t, all, "gzip")).Read(&picture, Place{}); !errors.Is(err, ErrTorn) {
				t.Errorf("%s with %d of %d bytes: %v", compressor, n, len(data), err)
			}
		}
	}
}

// TestBloscTorn: a cut blosc chunk of any kind, written by other programs, gives no pixels.
func TestBloscTorn(t *testing.T) {
	all := unzipped(t, "v2.zip")
	for name, file := range all {
		if !strings.HasPrefix(name, "blosc") || strings.Contains(name, "/.") {
			continue
		}
		size := int(binary.LittleEndian.Uint32(file.Data[4:]))
		var u unpacker
		if _, err := u.unpack(nil, file.Data, packing{compressor: withBlosc}, size); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for n := 0; n < len(file.Data); n += 1 + len(file.Data)/200 {
			if _, err := u.unpack(nil, file.Data[:n], packing{compressor: withBlosc}, size); err == nil {
				t.Errorf("%s: whole with %d of %d bytes", name, n, len(file.Data))
			}
		}
		u.close()
	}
}

// TestDoubtful: a chunk that ends in zeros may be incomplete, unless a checksum shows that it is complete.
func TestDoubtful(t *testing.T) {
	ends := flat(300)
	ends[len(ends)-1], ends[len(ends)-2] = 0, 0
	for name, c := range map[string]struct {
		chunk []byte
		want  bool
	}{"zeros": {ends, true}, "values": {flat(300), false}, "low values": {flat(3), false}, "nothing": {make([]byte, 24), true}} {
		image := opened(t, film("null", map[string][]byte{"0/0/0": c.chunk, "0/0/1": flat(300)}))
		var picture tiff.Image
		if _, doubtful, err := image.Read(&picture, Place{}); err != nil || doubtful != c.want {
			t.Errorf("%s: %v, %v; %v expected", name, doubtful, err, c.want)
		}
	}
	if (packing{compressor: withBlosc}).checked() || !(packing{outside: 1}).checked() || !(packing{compressor: withGzip}).checked() {
		t.Error("a checksum proves an end, blosc does not")
	}
}

// shardedFilm has frames of 2x2 bytes, one per chunk, and three chunks per shard. The %s are codecs of chunks, codecs of the index, and the index's location.
const shardedFilm = `{"zarr_format":3,"node_type":"array","shape":[6,2,2],"data_type":"uint8","fill_value":9,"dimension_names":["t","y","x"],` +
	`"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[3,2,2]}},"chunk_key_encoding":{"name":"default"},` +
	`"codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[1,2,2],"codecs":["bytes"%s],"index_codecs":[{"name":"bytes","configuration":{"endian":"little"}}%s],"index_location":%q}}]}`

// shard returns a shard of a film. A frame of value 0 is missing in it.
func shard(first bool, values ...byte) (b []byte) {
	le := binary.LittleEndian
	var index []byte
	at := uint64(0)
	if first {
		at = entryBytes*uint64(len(values)) + crcBytes
	}
	for _, v := range values {
		if v == 0 {
			index = le.AppendUint64(le.AppendUint64(index, math.MaxUint64), math.MaxUint64)
			continue
		}
		index = le.AppendUint64(le.AppendUint64(index, at), 4)
		b = append(b, v, v, v, v)
		at += 4
	}
	index = le.AppendUint32(index, crc32.Checksum(index, castagnoli))
	if first {
		return append(index, b...)
	}
	return append(b, index...)
}

// TestShards: frames of shards are found or missing, and a shard that was cut off gives no pixels.
func TestShards(t *testing.T) {
	for _, first := range []bool{false, true} {
		store := fstest.MapFS{}
		put(store, v3Name, fmt.Appendf(nil, shardedFilm, "", `,"crc32c"`, map[bool]string{false: "end", true: "start"}[first]))
		whole := shard(first, 1, 0, 3)
		for n := range len(whole) + 1 {
			put(store, "c/0/0/0", whole[:n])
			put(store, "c/1/0/0", shard(first, 0, 5, 0))
			image := opened(t, store)
			var picture tiff.Image
			for frame, want := range []byte{1, 0, 3, 0, 5, 0} {
				missing, _, err := image.Read(&picture, Place{Time: frame})
				switch {
				case n < len(whole) && frame < 3 && !first && !errors.Is(err, ErrTorn):
					t.Errorf("frame %d of %d bytes of %d: %v", frame, n, len(whole), err)
				case n < len(whole) && frame < 3 && err != nil:
				case err != nil, want == 0 != (missing == 1), want == 0 && picture.Pix[0] != 9, want > 0 && picture.Pix[3] != want:
					t.Errorf("frame %d of %d bytes of %d: %v, %d missing, %v; %d expected", frame, n, len(whole), picture.Pix, missing, err, want)
				}
			}
			if n == len(whole) {
				if last, err := image.Last(Place{}, false); last != 4 || err != nil {
					t.Errorf("the last is %d, %v; 4 expected", last, err)
				}
			}
		}
	}
}

// TestShardChecked: a chunk's own checksum is verified, too.
func TestShardChecked(t *testing.T) {
	store := fstest.MapFS{}
	put(store, v3Name, fmt.Appendf(nil, shardedFilm, `,"crc32c"`, "", "end"))
	le := binary.LittleEndian
	chunk := le.AppendUint32([]byte{1, 2, 3, 4}, crc32.Checksum([]byte{1, 2, 3, 4}, castagnoli))
	index := append(le.AppendUint64(le.AppendUint64(nil, 0), 8), strings.Repeat("\xff", 2*entryBytes)...)
	for damage := range 2 {
		chunk[0] ^= byte(damage)
		put(store, "c/0/0/0", append(append([]byte{}, chunk...), index...))
		var picture tiff.Image
		if _, _, err := opened(t, store).Read(&picture, Place{}); (err == nil) != (damage == 0) {
			t.Errorf("with %d damaged bits: %v", damage, err)
		}
	}
}
