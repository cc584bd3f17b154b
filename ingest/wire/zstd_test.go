package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"

	"driftscope/ingest/tiff"
)

// picture returns a smooth slope with noise of the given grey levels, of the size in h.
func picture(h *Header, noise int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	out := make([]byte, h.size())
	size := h.Depth.Bytes()
	for i := 0; i < len(out)/size; i++ {
		v := i%(h.Width*h.Channels) + rng.IntN(noise+1)
		for k := range size {
			out[i*size+k] = byte(v >> (8 * k))
		}
	}
	return out
}

// Every filter is reversible for every type of pixel.
func TestPackedAndUnpacked(t *testing.T) {
	for depth := range tiff.Float32 + 1 {
		for _, channels := range []int{1, 3} {
			h := header(0)
			h.Width, h.Height, h.Channels, h.Depth = 37, 11, channels, depth
			for name, pixels := range map[string][]byte{"noise": random(h.size()), "slope": picture(&h, 3), "black": make([]byte, h.size())} {
				for f := range Up + 1 {
					filtered, back := make([]byte, h.size()), make([]byte, h.size())
					f.apply(filtered, pixels, make([]byte, h.size()), &h)
					f.undo(back, filtered, &h)
					if f != Up || depth != tiff.Float32 {
						if !bytes.Equal(back, pixels) {
							t.Errorf("%s of %s, %d channels: filter %s is not undone", name, pixelTypes[depth], channels, filters[f])
						}
					}
				}
				p, err := NewPacker()
				if err != nil {
					t.Fatal(err)
				}
				var u Unpacker
				for range 3 {
					packed, err := p.Pack(&h, pixels)
					if err != nil {
						t.Fatal(err)
					}
					got, err := u.Unpack(&Frame{Header: h, Bytes: packed})
					if err != nil || !bytes.Equal(got, pixels) {
						t.Fatalf("%s of %s, %d channels, filter %s: other pixels: %v", name, pixelTypes[depth], channels, filters[h.Filter], err)
					}
				}
				h.Encoding, h.Filter = Raw, NoFilter
			}
		}
	}
}

// random returns n bytes that cannot be compressed.
func random(n int) []byte {
	rng, out := rand.New(rand.NewPCG(3, 4)), make([]byte, n)
	for i := range out {
		out[i] = byte(rng.Uint32())
	}
	return out
}

// Packer uses the filter with the smallest result, and a frame that cannot be compressed still fits into its bound.
func TestPackerChooses(t *testing.T) {
	h := header(0)
	h.Width, h.Height = 256, 64
	for _, c := range []struct {
		depth  tiff.Depth
		pixels []byte
		want   Filter
	}{
		{tiff.Uint16, picture(&Header{Width: 256, Height: 64, Channels: 1, Depth: tiff.Uint16}, 0), Up},
		{tiff.Uint16, noisy(256*64, 40), Planes},
		{tiff.Uint8, random(256 * 64), NoFilter},
	} {
		p, err := NewPacker()
		if err != nil {
			t.Fatal(err)
		}
		h.Depth, h.Encoding, h.Filter = c.depth, Raw, NoFilter
		packed, err := p.Pack(&h, c.pixels)
		if err != nil || h.Filter != c.want {
			t.Errorf("filter %v (%v), %v expected", h.Filter, err, c.want)
		}
		if len(packed) > h.room() {
			t.Errorf("%d bytes of %d", len(packed), h.room())
		}
	}
	h.Depth, h.Encoding, h.Filter = tiff.Uint16, Raw, NoFilter
	p, err := NewPacker()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Pack(&h, make([]byte, 3)); err == nil {
		t.Error("three bytes were packed")
	}
	h.Channels = 2
	if _, err := p.Pack(&h, nil); err == nil {
		t.Error("two channels were packed")
	}
}

// noisy returns n uint16 samples around 620, like a camera's, in which neighbours are independent.
func noisy(n, levels int) []byte {
	rng, out := rand.New(rand.NewPCG(5, 6)), make([]byte, 2*n)
	for i := range n {
		v := 600 + rng.IntN(levels)
		out[2*i], out[2*i+1] = byte(v), byte(v>>8)
	}
	return out
}

// Any data announced as Zstandard need at most the memory of their frame, and are rejected unless they are exactly this frame.
func TestUnpackHostile(t *testing.T) {
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer encoder.Close()
	h := header(0)
	h.Encoding = Zstd
	whole := encoder.EncodeAll(make([]byte, h.size()), nil)
	for name, data := range map[string][]byte{
		"nothing": nil, "junk": []byte("GIF89a"), "half": whole[:len(whole)/2], "short": encoder.EncodeAll(make([]byte, h.size()-1), nil),
		"long": encoder.EncodeAll(make([]byte, h.size()+1), nil), "two": append(bytes.Clone(whole), whole...), "a bomb": encoder.EncodeAll(make([]byte, 32<<20), nil),
	} {
		var u Unpacker
		if _, err := u.Unpack(&Frame{Header: h, Bytes: data}); err == nil {
			t.Errorf("%s was taken", name)
		}
		if cap(u.filtered) > 2*h.size()+64 {
			t.Errorf("%s: %d bytes taken for a frame of %d", name, cap(u.filtered), h.size())
		}
	}
}

// A filter is allowed only with Zstandard, and differences only for whole numbers.
func TestFilterRefused(t *testing.T) {
	for _, c := range []struct {
		pairs []string
		want  string
	}{
		{[]string{nameFilter, "up"}, "filter up was given for encoding raw"},
		{[]string{nameFilter, "left", nameEncoding, "zstd"}, `found "left", expected one of none, planes, up`},
		{[]string{nameFilter, "up", nameEncoding, "zstd", namePixelType, "float32"}, "filter up was given for float32"},
	} {
		headers := header(0).with(c.pairs[0], c.pairs[1])
		for i := 2; i < len(c.pairs); i += 2 {
			headers[c.pairs[i]] = []string{c.pairs[i+1]}
		}
		if _, err := parse(headers); err == nil || !bytes.Contains([]byte(err.Error()), []byte(c.want)) {
			t.Errorf("%v: found %v, expected %s", c.pairs, err, c.want)
		}
	}
}

// FuzzUnpack: for any bytes, a frame has exactly the pixels of its header or is rejected, within its bound of memory.
func FuzzUnpack(f *testing.F) {
	for filter := range Up + 1 {
		h := header(0)
		h.Width, h.Height, h.Channels, h.Depth = 9, 5, 1, tiff.Uint16
		p, err := NewPacker()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(9), uint8(5), uint8(filter), uint8(1), bytes.Clone(p.pack(nil, filter, &h, picture(&h, 2))))
	}
	f.Add(uint8(1), uint8(1), uint8(0), uint8(0), []byte("\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, width, height, filter, depth uint8, data []byte) {
		h := Header{Session: "s", Width: int(width), Height: int(height), Channels: 1, Depth: tiff.Depth(depth % 3), Encoding: Zstd, Filter: Filter(filter % 3)}
		if h.check() != nil {
			t.Skip()
		}
		var u Unpacker
		pixels, err := u.Unpack(&Frame{Header: h, Bytes: data})
		if err == nil && len(pixels) != h.size() {
			t.Fatalf("%d bytes of %d", len(pixels), h.size())
		}
		if cap(u.filtered)+cap(u.pixels) > 4*h.size()+256 {
			t.Fatalf("%d bytes taken for a frame of %d", cap(u.filtered)+cap(u.pixels), h.size())
		}
	})
}

// BenchmarkPack compresses and decompresses a frame of camera noise, 512x512 of 16 bits.
func BenchmarkPack(b *testing.B) {
	h := header(0)
	h.Width, h.Height, h.Channels, h.Depth = 512, 512, 1, tiff.Uint16
	pixels := noisy(512*512, 40)
	p, err := NewPacker()
	if err != nil {
		b.Fatal(err)
	}
	packed, err := p.Pack(&h, pixels)
	if err != nil {
		b.Fatal(err)
	}
	var u Unpacker
	for name, do := range map[string]func(){
		"pack":   func() { p.Pack(&h, pixels) },
		"unpack": func() { u.Unpack(&Frame{Header: h, Bytes: packed}) },
	} {
		b.Run(fmt.Sprintf("%s-%s", name, filters[h.Filter]), func(b *testing.B) {
			b.SetBytes(int64(len(pixels)))
			for b.Loop() {
				do()
			}
		})
	}
}
