package bounded

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestFile: bytes are read from their offset into the caller's memory. Bytes beyond the end give ErrTorn without an allocation.
func TestFile(t *testing.T) {
	f := File{strings.NewReader("0123456789"), 10}
	memory := make([]byte, 0, 4)
	b, err := f.Bytes(memory, 3, 4)
	if err != nil || string(b) != "3456" || &b[0] != &memory[:1][0] {
		t.Errorf("%q, %v; 3456 in the memory that was given expected", b, err)
	}
	if b, err := f.Bytes(nil, 0, 10); err != nil || string(b) != "0123456789" {
		t.Errorf("%q, %v", b, err)
	}
	for _, c := range [][2]uint64{{7, 4}, {11, 0}, {0, 11}, {math.MaxUint64, 1}, {1, math.MaxUint64}, {uint64(math.MaxInt64), 8}, {0, 1 << 60}} {
		if b, err := f.Bytes(nil, c[0], c[1]); !errors.Is(err, ErrTorn) || b != nil {
			t.Errorf("%d bytes at %d: %d bytes, %v; torn expected", c[1], c[0], len(b), err)
		}
	}
	short := File{strings.NewReader("0123"), 10} // the file was cut after its size was read
	if _, err := short.Bytes(nil, 2, 4); !errors.Is(err, ErrTorn) || !errors.Is(err, io.EOF) {
		t.Errorf("%v; torn at its end expected", err)
	}
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// TestZlib: Fill unpacks exactly, and Most at most, the given number of bytes, repeatedly. Damaged or too long data give an error.
func TestZlib(t *testing.T) {
	data := []byte(strings.Repeat("molecule", 100))
	packed := deflated(data)
	var z Zlib
	for range 2 {
		dst := make([]byte, len(data))
		if err := z.Fill(dst, packed); err != nil || !bytes.Equal(dst, data) {
			t.Fatalf("%q, %v", dst, err)
		}
		if n, err := z.Most(make([]byte, len(data)+1), packed); n != len(data) || err != nil {
			t.Errorf("%d bytes, %v; %d expected", n, err, len(data))
		}
		if n, err := z.Most(make([]byte, 5), packed); n != 5 || err != nil {
			t.Errorf("%d bytes, %v; 5 expected", n, err)
		}
	}
	wrong := bytes.Clone(packed)
	wrong[len(wrong)-1] ^= 1
	for name, c := range map[string]struct {
		room   int
		packed []byte
		want   string
	}{
		"more than fits": {5, packed, "more than the 5 bytes of its size"}, "less": {len(data) + 1, packed, "800 of 801 bytes were unpacked"}, "no checksum": {len(data), packed[:len(packed)-4], "its checksum is wrong"},
		"a wrong one": {len(data), wrong, "its checksum is wrong"}, "no zlib": {5, []byte("molecule"), "zlib"}, "nothing": {5, nil, "EOF"},
	} {
		if err := z.Fill(make([]byte, c.room), c.packed); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; %q expected", name, err, c.want)
		}
	}
	if _, err := z.Most(make([]byte, 5), []byte("molecule")); err == nil {
		t.Error("no zlib: no error")
	}
	if _, err := z.Most(make([]byte, len(data)+1), wrong); err == nil {
		t.Error("a wrong checksum: no error")
	}
}

// TestZstd: Unpack returns at most the bytes for which dst has room.
func TestZstd(t *testing.T) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	data := []byte(strings.Repeat("molecule", 100))
	packed := w.EncodeAll(data, nil)
	var z Zstd
	for range 2 {
		dst := make([]byte, len(data)+3)
		if got, err := z.Unpack(dst, packed); err != nil || !bytes.Equal(got, data) || &got[0] != &dst[0] {
			t.Errorf("%q, %v", got, err)
		}
		if _, err := z.Unpack(dst[:7:7], packed); err == nil {
			t.Error("more than fits: no error")
		}
		z.Close()
	}
}

// TestUnshuffle: elements of every size are restored, with an incomplete element at the end.
func TestUnshuffle(t *testing.T) {
	for size := 1; size <= 9; size++ {
		for n := range 40 {
			want := make([]byte, n)
			for i := range want {
				want[i] = byte(7*i + 1)
			}
			var shuffled []byte
			for j := range size {
				for i := j; i < n/size*size; i += size {
					shuffled = append(shuffled, want[i])
				}
			}
			got := make([]byte, n)
			Unshuffle(got, append(shuffled, want[n/size*size:]...), size)
			if !bytes.Equal(got, want) {
				t.Fatalf("%d bytes of elements of %d: %v, %v expected", n, size, got, want)
			}
		}
	}
}

// FuzzUnpack: for any bytes, the unpacked data have the expected size, or there is an error.
func FuzzUnpack(f *testing.F) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		f.Fatal(err)
	}
	defer w.Close()
	for _, text := range []string{"", "molecule", strings.Repeat("molecule", 100)} {
		f.Add(deflated([]byte(text)), uint16(len(text)))
		f.Add(w.EncodeAll([]byte(text), nil), uint16(len(text)))
	}
	f.Fuzz(func(t *testing.T, packed []byte, room uint16) {
		var z Zlib
		dst := make([]byte, room)
		_ = z.Fill(dst, packed)
		if n, err := z.Most(dst, packed); n > len(dst) || err == nil && n < 0 {
			t.Fatalf("%d bytes of %d", n, len(dst))
		}
		var s Zstd
		defer s.Close()
		got, err := s.Unpack(dst, packed)
		if err == nil && (len(got) > len(dst) || len(got) > 0 && &got[0] != &dst[0]) {
			t.Fatalf("%d bytes of %d, or elsewhere", len(got), len(dst))
		}
	})
}
