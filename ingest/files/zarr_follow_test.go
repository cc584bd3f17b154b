package files

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"driftscope/ingest/ingesttest"
)

// growingZarrs writes one chunk per frame, each to its own file.
type growingZarrs struct {
	dir  string
	zstd bool
	ends bool // files get their full length before their content
}

func newZarrs(t testing.TB, dir string, packed, ends bool) (string, grower) {
	t.Helper()
	compressor := "null"
	if packed {
		compressor = `{"id":"zstd","level":1}`
	}
	ingesttest.Write(t, filepath.Join(dir, ".zarray"), fmt.Appendf(nil,
		`{"zarr_format":2,"shape":[0,%d,%d],"chunks":[1,%[1]d,%[2]d],"dtype":"<u2","compressor":%s,"filters":null,"fill_value":0,"order":"C"}`, growH, growW, compressor))
	return dir, &growingZarrs{dir, packed, ends}
}

func (g *growingZarrs) frame(t testing.TB, i int) []piece {
	t.Helper()
	data := shot16(i).Pix
	if g.zstd {
		data = append([]byte{}, data...)
		for k := range data[:len(data)/2] { // repeated bytes, of which a missing part would not be noticed
			data[len(data)/2+k] = byte(k*k*31>>3+k) | 1
		}
		encoder, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		data = encoder.EncodeAll(data, nil)
	}
	file := create(t, filepath.Join(g.dir, fmt.Sprintf("%d.0.0", i)))
	if g.ends {
		if err := file.Truncate(int64(len(data))); err != nil {
			t.Fatal(err)
		}
	}
	return []piece{{file, 0, data}}
}

// TestFollowZarrRenamed: frames are returned whole and in order if chunks are written under a temporary name and renamed in any order, as zarr-python does.
func TestFollowZarrRenamed(t *testing.T) {
	t.Parallel()
	path := newStore(t, 0)
	s := followed(t, "zarr", path, "1s")
	go func() {
		for _, step := range [][2]int{{0, 1}, {0, 0}, {2, 0}, {1, 0}, {1, 1}, {2, 1}} {
			time.Sleep(40 * time.Millisecond)
			folder := filepath.Join(path, fmt.Sprint(step[0]), "0")
			if err := os.MkdirAll(folder, 0o777); err != nil {
				t.Error(err)
			}
			pix := shot16(step[0]).Pix
			part := filepath.Join(folder, fmt.Sprintf("%d.af1.partial", step[1]))
			if err := os.WriteFile(part, pix[:len(pix)/2], 0o666); err != nil {
				t.Error(err)
			}
			time.Sleep(30 * time.Millisecond)
			if err := os.Rename(part, filepath.Join(folder, fmt.Sprint(step[1]))); err != nil {
				t.Error(err)
			}
		}
	}()
	frames, skipped := ingesttest.ReadAll(t, s)
	check(t, frames, 3)
	if len(skipped) > 0 {
		t.Errorf("skipped %v", skipped)
	}
}

// TestFollowZarrBlack: frames of zeros are returned once their files stay unchanged, although nothing proves that they are whole.
func TestFollowZarrBlack(t *testing.T) {
	t.Parallel()
	path := newStore(t, 5)
	s := followed(t, "zarr", path, "5s")
	for n := range 2 {
		for tile := range 2 {
			name := writeTile(t, path, n, tile)
			ingesttest.Write(t, name, make([]byte, 20*12*2))
		}
		began := time.Now()
		f, err := s.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if took := time.Since(began); took < settled/2 || took > 250*time.Millisecond {
			t.Errorf("a black frame came after %v, %v expected", took, settled)
		}
	}
}

// TestFollowZarrGaps: a frame or a chunk that the writer left out is reported once later frames stay unchanged. The torn last frame ends the recording.
func TestFollowZarrGaps(t *testing.T) {
	t.Parallel()
	path := newStore(t, 50)
	for n, tiles := range [][]int{{0, 1}, {}, {}, {}, {0, 1}, {0}, {0, 1}, {0}} {
		for _, tile := range tiles {
			writeTile(t, path, n, tile)
		}
	}
	frames, skipped := ingesttest.ReadAll(t, followed(t, "zarr", path, "4s"))
	var got []string
	for _, f := range frames {
		got = append(got, fmt.Sprint(f.Seq, f.Corner[0], f.Events))
	}
	if want := []string{"0 257 []", "4 1285 []", "5 1542 [missing_chunks]", "6 1799 []"}; !slices.Equal(got, want) || !slices.Equal(skipped, []string{"missing_frame", "missing_frame", "missing_frame", "torn_frame"}) {
		t.Errorf("%v, skipped %v; %v expected", got, skipped, want)
	}
}

// TestFollowZarrShards: the frames of a shard are returned when its index exists. The frames of a chunk with several frames are returned when the next chunk
// has begun.
func TestFollowZarrShards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		metadata string
		chunk    func(n int) []byte
		want     []int // frames after each chunk of two
	}{
		"shards": {`{"zarr_format":3,"node_type":"array","shape":[0,1,2],"data_type":"uint16","fill_value":0,"dimension_names":["t","y","x"],` +
			`"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,1,2]}},"chunk_key_encoding":{"name":"default","configuration":{"separator":"."}},` +
			`"codecs":[{"name":"sharding_indexed","configuration":{"chunk_shape":[1,1,2],"codecs":["bytes"],"index_codecs":[{"name":"bytes"},{"name":"crc32c"}]}}]}`,
			func(n int) []byte {
				le := binary.LittleEndian
				b := []byte{shown(n), shown(n), 1, 1, shown(n + 1), shown(n + 1), 1, 1}
				index := le.AppendUint64(le.AppendUint64(le.AppendUint64(le.AppendUint64(nil, 0), 4), 4), 4)
				return append(b, le.AppendUint32(index, crc32.Checksum(index, crc32.MakeTable(crc32.Castagnoli)))...)
			}, []int{2, 4, 6}},
		"together": {`{"zarr_format":3,"node_type":"array","shape":[0,1,2],"data_type":"uint16","fill_value":0,"dimension_names":["t","y","x"],` +
			`"chunk_grid":{"name":"regular","configuration":{"chunk_shape":[2,1,2]}},"chunk_key_encoding":{"name":"default","configuration":{"separator":"."}},"codecs":["bytes"]}`,
			func(n int) []byte { return []byte{shown(n), shown(n), 1, 1, shown(n + 1), shown(n + 1), 1, 1} }, []int{0, 2, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := t.TempDir()
			s := followed(t, "zarr", path, "500ms")
			ingesttest.Write(t, filepath.Join(path, "zarr.json"), []byte(c.metadata))
			var frames []ingesttest.Seen
			take := func(wait time.Duration) {
				for {
					ctx, cancel := context.WithTimeout(context.Background(), wait)
					f, err := s.Read(ctx)
					cancel()
					if errors.Is(err, context.DeadlineExceeded) || err == io.EOF {
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					frames = append(frames, ingesttest.Look(t, f))
					f.Close()
				}
			}
			for n, want := range c.want {
				data := c.chunk(2 * n)
				file := create(t, filepath.Join(path, fmt.Sprintf("c.%d.0.0", n)))
				put(t, []piece{{file, 0, data}}, 1)
				take(100 * time.Millisecond)
				if len(frames) > max(0, want-2) && name == "shards" {
					t.Errorf("%d frames while shard %d is torn, %d expected", len(frames), n, want-2)
				}
				put(t, []piece{{file, 0, data}}, 0)
				take(150 * time.Millisecond)
				if len(frames) != want {
					t.Errorf("%d frames after chunk %d, %d expected", len(frames), n, want)
				}
			}
			take(2 * time.Second)
			check(t, frames, 6)
		})
	}
}

// TestFollowZarrAnew: a store that is replaced by a new one of the same name gives an error.
func TestFollowZarrAnew(t *testing.T) {
	path := newStore(t, 5)
	s := followed(t, "zarr", path, "5s")
	ingesttest.Write(t, filepath.Join(path, ".zarray"), []byte(`{"zarr_format":2,"shape":[5,10,24],"chunks":[1,10,12],"dtype":"<u2","compressor":null,"filters":null,"fill_value":0,"order":"C","dimension_separator":"/"}`))
	if _, err := s.Read(context.Background()); err == nil || err == io.EOF {
		t.Errorf("%v, begun anew expected", err)
	}
}
