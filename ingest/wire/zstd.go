package wire

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"

	"driftscope/ingest/tiff"
)

// tryEvery is the number of frames between trials of all filters. Trials cost 1 % of the time, and the choice adapts within seconds, for example when a lamp is
// switched.
const tryEvery = 128

// Packer compresses frames with Zstandard after the filter that gives the smallest result. Not safe for concurrent use.
type Packer struct {
	encoder *zstd.Encoder
	filter  Filter
	packed  int // number of frames packed

	filtered, spare []byte
	out, other      []byte
}

// NewPacker returns a Packer that uses one core.
func NewPacker() (*Packer, error) {
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(true),
		zstd.WithAllLitEntropyCompression(true)) // noise does not repeat, but some of its values are more frequent than others
	if err != nil {
		return nil, err
	}
	return &Packer{encoder: encoder}, nil
}

// Pack compresses raw pixels and sets the encoding in h. The result is valid until the next Pack.
func (p *Packer) Pack(h *Header, pixels []byte) ([]byte, error) {
	if err := h.check(); err != nil {
		return nil, err
	}
	if len(pixels) != h.size() {
		return nil, fmt.Errorf("the frame has %d bytes of pixels, %d expected from its header: correct the publisher", len(pixels), h.size())
	}
	h.Encoding = Zstd
	if p.packed%tryEvery == 0 || p.filter == Up && h.Depth == tiff.Float32 {
		p.choose(*h, pixels)
	} else {
		p.out = p.pack(p.out, p.filter, h, pixels)
	}
	p.packed++
	h.Filter = p.filter
	return p.out, nil
}

// choose tries every filter and keeps the best.
func (p *Packer) choose(h Header, pixels []byte) {
	p.filter, p.out = NoFilter, p.pack(p.out, NoFilter, &h, pixels)
	for _, h.Filter = range []Filter{Planes, Up} {
		if h.check() != nil || h.Filter == Planes && h.Depth == tiff.Uint8 { // 8-bit samples are a single plane
			continue
		}
		p.other = p.pack(p.other, h.Filter, &h, pixels)
		if len(p.other) < len(p.out) {
			p.filter, p.out, p.other = h.Filter, p.other, p.out
		}
	}
}

func (p *Packer) pack(dst []byte, f Filter, h *Header, pixels []byte) []byte {
	if f == NoFilter {
		return p.encoder.EncodeAll(pixels, dst[:0])
	}
	p.filtered, p.spare = resized(p.filtered, len(pixels)), resized(p.spare, len(pixels))
	f.apply(p.filtered, pixels, p.spare, h)
	return p.encoder.EncodeAll(p.filtered, dst[:0])
}

// Unpacker decompresses Zstd frames. The zero value is ready. Not safe for concurrent use.
type Unpacker struct {
	decoder  *zstd.Decoder
	filtered []byte
	pixels   []byte
}

// Unpack returns the raw pixels of f, valid until the next Unpack. It allocates at most the bytes of two raw frames, whatever the input.
func (u *Unpacker) Unpack(f *Frame) ([]byte, error) {
	if u.decoder == nil {
		var err error
		u.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBytes), zstd.WithDecoderMaxWindow(MaxBytes), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return nil, err
		}
	}
	size := f.size()
	u.filtered = resized(u.filtered, size)
	plain, err := u.decoder.DecodeAll(f.Bytes, u.filtered[:0:size])
	if err != nil {
		return nil, fmt.Errorf("the data are not a readable Zstandard frame of %d bytes (%w): correct the publisher", size, err)
	}
	if len(plain) != size {
		return nil, fmt.Errorf("the data decompress to %d bytes, %d expected from %dx%d pixels of %d channels: correct the publisher", len(plain), size, f.Width, f.Height, f.Channels)
	}
	if f.Filter == NoFilter {
		return plain, nil
	}
	u.pixels = resized(u.pixels, size)
	f.Filter.undo(u.pixels, plain, &f.Header)
	return u.pixels, nil
}

// resized returns b with length n; its contents are unspecified.
func resized(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }
