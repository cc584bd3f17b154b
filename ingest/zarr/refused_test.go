package zarr

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"driftscope/ingest/tiff"
)

// TestRefused: the error for an unsupported feature is one line that names it.
func TestRefused(t *testing.T) {
	v2 := fmt.Sprintf(filmV2, "null")
	v3 := fmt.Sprintf(shardedFilm, "", `,"crc32c"`, "end")
	with := func(text, old, new string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("%q is not in %s", old, text)
		}
		return strings.Replace(text, old, new, 1)
	}
	for name, c := range map[string]struct{ v2, v3, want string }{
		"64 bits":           {v2: with(v2, "<u2", "<u8"), want: `samples have type "<u8"`},
		"half floats":       {v2: with(v2, "<u2", "<f2"), want: `samples have type "<f2"`},
		"structures":        {v2: with(v2, `"<u2"`, `[["a","<u2"]]`), want: "samples have type"},
		"filter":            {v2: with(v2, `"filters":null`, `"filters":[{"id":"delta"}]`), want: `filter "delta", none expected`},
		"compressor":        {v2: with(v2, `"compressor":null`, `"compressor":{"id":"lzma"}`), want: `compressor "lzma", blosc, gzip`},
		"separator":         {v2: with(v2, `"dimension_separator":"/"`, `"dimension_separator":"../"`), want: `separator of keys is "../"`},
		"order":             {v2: with(v2, `"order":"C"`, `"order":"A"`), want: "order"},
		"format":            {v2: with(v2, `"zarr_format":2`, `"zarr_format":1`), want: "zarr_format is 1"},
		"huge chunks":       {v2: with(v2, `"chunks":[1,4,3]`, `"chunks":[100000,100000,3]`), want: "chunks of [100000 100000 3]"},
		"overflow":          {v2: with(v2, `"chunks":[1,4,3]`, `"chunks":[4294967296,4294967296,3]`), want: "chunks of"},
		"no chunks":         {v2: with(v2, `"chunks":[1,4,3]`, `"chunks":[1,0,3]`), want: "chunks of [1 0 3]"},
		"few chunks":        {v2: with(v2, `"chunks":[1,4,3]`, `"chunks":[1,4]`), want: "chunks have 2 axes"},
		"negative":          {v2: with(v2, `"shape":[4,4,6]`, `"shape":[-4,4,6]`), want: "axis 0 has length -4"},
		"huge picture":      {v2: with(v2, `"shape":[4,4,6]`, `"shape":[4,40000,60000]`), want: "60000x40000 pixels"},
		"many chunks":       {v2: with(with(v2, `"shape":[4,4,6]`, `"shape":[4,4000,6000]`), `"chunks":[1,4,3]`, `"chunks":[1,1,1]`), want: "6000x4000 chunks"},
		"fill value":        {v2: with(v2, `"fill_value":7`, `"fill_value":-7`), want: "fill_value is -7"},
		"fill text":         {v2: with(v2, `"fill_value":7`, `"fill_value":"AAA="`), want: `fill_value is "AAA="`},
		"v3 type":           {v3: with(v3, `"uint8"`, `"complex64"`), want: `samples have type "complex64"`},
		"v3 grid":           {v3: with(v3, `"regular"`, `"rectangular"`), want: `chunk grid "rectangular"`},
		"v3 keys":           {v3: with(v3, `"name":"default"`, `"name":"hashed"`), want: `chunk key encoding "hashed"`},
		"v3 codec":          {v3: with(v3, `"crc32c"`, `"pcodec"`), want: `codec "pcodec"`},
		"v3 no bytes":       {v3: with(v3, `"codecs":["bytes"]`, `"codecs":[]`), want: "no codec converts a chunk"},
		"v3 shard sides":    {v3: with(v3, `"chunk_shape":[1,2,2]`, `"chunk_shape":[2,2,2]`), want: "chunks of [2 2 2] do not fill shards of [3 2 2]"},
		"v3 packed index":   {v3: with(v3, `,"crc32c"`, `,"zstd"`), want: "the index of shards is packed"},
		"v3 location":       {v3: with(v3, `"end"`, `"middle"`), want: `index_location of shards is "middle"`},
		"v3 transformer":    {v3: with(v3, `"fill_value":9`, `"fill_value":9,"storage_transformers":[{"name":"x"}]`), want: `storage transformer "x"`},
		"v3 shards inside":  {v3: with(v3, `"codecs":["bytes"]`, `"codecs":["sharding_indexed"]`), want: "shards contain shards"},
		"v3 twice packed":   {v3: with(v3, `"codecs":["bytes"]`, `"codecs":["bytes","gzip","zstd"]`), want: "packed by gzip and zstd"},
		"v3 big shards":     {v3: with(with(v3, `"chunk_shape":[3,2,2]`, `"chunk_shape":[3000000,2,2]`), `"shape":[6,`, `"shape":[6000000,`), want: "shards have [3000000 1 1] chunks"},
		"half":              {v3: v3[:len(v3)/2], want: "torn"},
		"v3 axes repeated":  {v3: with(v3, `["t","y","x"]`, `["y","y","x"]`), want: `axis 1 is "y" with length 2`},
		"v3 no axes":        {v3: with(v3, `["t","y","x"]`, `["t","a","x"]`), want: `axis 1 is "a"`},
		"v3 group":          {v3: `{"zarr_format":3,"node_type":"group"}`, want: "a group without multiscales"},
		"v3 plate":          {v3: `{"zarr_format":3,"node_type":"group","attributes":{"ome":{"plate":{}}}}`, want: "give STORE/A/1/0"},
		"v3 several":        {v3: `{"zarr_format":3,"node_type":"group","attributes":{"ome":{"bioformats2raw.layout":3}}}`, want: "give STORE/0"},
		"v3 outside":        {v3: `{"zarr_format":3,"node_type":"group","attributes":{"ome":{"multiscales":[{"datasets":[{"path":"../x"}]}]}}}`, want: "a path within the store"},
		"v3 transpose":      {v3: with(v3, `"codecs":["bytes"]`, `"codecs":[{"name":"transpose","configuration":{"order":[0,0,1]}},"bytes"]`), want: "each axis once expected"},
		"v3 long transpose": {v3: with(v3, `"codecs":["bytes"]`, `"codecs":[{"name":"transpose","configuration":{"order":[0,1,7]}},"bytes"]`), want: "axes 0 to 2 expected"},
	} {
		store := fstest.MapFS{}
		if c.v2 != "" {
			put(store, v2Name, []byte(c.v2))
		} else {
			put(store, v3Name, []byte(c.v3))
		}
		_, err := Open(store, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), '\n') {
			t.Errorf("%s: %v, one line with %q expected", name, err, c.want)
		}
		if unread := err != nil && strings.Contains(err.Error(), "convert the store"); unread && !strings.HasSuffix(err.Error(), "("+tiff.Page+")") {
			t.Errorf("%s: %v, the page at its end expected", name, err)
		}
	}
	for _, empty := range []fstest.MapFS{{}, {v2Group: {Data: []byte(`{"zarr_format":2}`)}}} {
		if _, err := Open(empty, 0); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, %v expected", err, fs.ErrNotExist)
		}
	}
	if _, err := Open(film("null", nil), 1); err == nil || !strings.Contains(err.Error(), "level is 1 and the store has 1 levels") {
		t.Errorf("%v, the levels expected", err)
	}
}

// TestAgain: Again accepts a store that has grown, and rejects one that was replaced.
func TestAgain(t *testing.T) {
	store := film("null", nil)
	image := opened(t, store)
	put(store, "0/"+v2Name, []byte(strings.Replace(fmt.Sprintf(filmV2, "null"), "[4,4,6]", "[9,4,6]", 1)))
	if err := image.Again(); err != nil || image.Times() != 9 {
		t.Errorf("%v, %d times; 9 expected", err, image.Times())
	}
	put(store, "0/"+v2Name, []byte(`{"zarr`))
	if err := image.Again(); err != nil || image.Times() != 9 {
		t.Errorf("%v, %d times; 9 expected while the metadata are being written", err, image.Times())
	}
	put(store, "0/"+v2Name, []byte(strings.Replace(fmt.Sprintf(filmV2, "null"), "[4,4,6]", "[9,4,7]", 1)))
	if err := image.Again(); err == nil || !strings.Contains(err.Error(), "start the run again") {
		t.Errorf("%v, start the run again expected", err)
	}
}

// TestAxes: axes are identified by NGFF metadata of every version, by the array's own names, or by their number.
func TestAxes(t *testing.T) {
	array := func(shape string) string {
		return `{"zarr_format":2,"shape":` + shape + `,"chunks":` + shape + `,"dtype":"<u2","compressor":null,"filters":null,"fill_value":0,"order":"C"}`
	}
	named := func(axes string) string {
		return `{"multiscales":[{"axes":` + axes + `,"datasets":[{"path":"0"}]}]}`
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"0.1":      {map[string]string{v2Attributes: `{"multiscales":[{"version":"0.1","datasets":[{"path":"0"}]}]}`, "0/" + v2Name: array("[2,3,4,5,6]")}, "2 times, 3 channels, 4 slices of 6x5"},
		"0.3":      {map[string]string{v2Attributes: named(`["t","z","y","x"]`), "0/" + v2Name: array("[2,4,5,6]")}, "2 times, 1 channels, 4 slices of 6x5"},
		"types":    {map[string]string{v2Attributes: named(`[{"name":"frame","type":"time"},{"name":"colour","type":"channel"},{"name":"y"},{"name":"x"}]`), "0/" + v2Name: array("[2,3,5,6]")}, "2 times, 3 channels, 1 slices of 6x5"},
		"position": {map[string]string{v2Attributes: named(`["p","t","y","x"]`), "0/" + v2Name: array("[1,2,5,6]")}, "2 times, 1 channels, 1 slices of 6x5"},
		"xarray":   {map[string]string{v2Attributes: `{"_ARRAY_DIMENSIONS":["z","Y","X"]}`, v2Name: array("[2,5,6]")}, "1 times, 1 channels, 2 slices of 6x5"},
		"a film":   {map[string]string{v2Name: array("[2,5,6]")}, "2 times, 1 channels, 1 slices of 6x5"},
		"four":     {map[string]string{v2Name: array("[2,3,5,6]")}, "the array has 4 axes, 0 with a name"},
		"places":   {map[string]string{v2Attributes: named(`["p","t","y","x"]`), "0/" + v2Name: array("[3,2,5,6]")}, `axis 0 is "p" with length 3`},
	} {
		store := fstest.MapFS{}
		for file, text := range c.files {
			put(store, file, []byte(text))
		}
		image, err := Open(store, 0)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("%d times, %d channels, %d slices of %dx%d", image.Times(), image.Channels, image.Slices, image.Width, image.Height)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, %s expected", name, got, c.want)
		}
	}
}
