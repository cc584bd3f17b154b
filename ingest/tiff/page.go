package tiff

import (
	"errors"
	"fmt"
	"math"
)

// page is the layout of one page. Every number in it was checked against its bound.
type page struct {
	width, height  int
	samples        int // per pixel
	bits           int // per sample
	format         uint64
	photometric    uint64
	compression    uint64
	predictor      uint64
	separate       bool // each sample in its own plane
	tiled          bool
	chunkW, chunkH int // size of a strip or tile; the last strip may have fewer rows
	across, down   int // chunks of a plane
	offsets        []uint64
	counts         []uint64 // stored bytes of each chunk; empty if the file does not say
	colours        []uint64 // all reds, then greens, then blues, 16 bits each

	few []uint64
}

// readPage reads and checks the directory at offset into f.page. It allocates no memory for pixels.
func (f *File) readPage(offset int64) error {
	if err := f.readDirectory(offset); err != nil {
		return err
	}
	p := &f.page
	if err := f.readSize(p); err != nil {
		return err
	}
	if err := f.readCompression(p); err != nil {
		return err
	}
	if err := f.readSamples(p); err != nil {
		return err
	}
	if err := f.readPredictor(p); err != nil {
		return err
	}
	if err := f.readChunks(p); err != nil {
		return err
	}
	return f.checkStored(p)
}

func (f *File) readSize(p *page) error {
	w, err := f.uint(tagWidth, 0)
	if err != nil {
		return err
	}
	h, err := f.uint(tagHeight, 0)
	if err != nil {
		return err
	}
	if err := CheckSize(w, h, 1); err != nil { // readSamples checks the bytes per pixel
		return err
	}
	p.width, p.height = int(w), int(h)
	return nil
}

func (f *File) readSamples(p *page) error {
	samples, err := f.uint(tagSamplesPerPixel, 1)
	if err != nil {
		return err
	}
	bits, err := f.uint(tagBitsPerSample, 1)
	if err != nil {
		return err
	}
	if p.format, err = f.uint(tagSampleFormat, formatUint); err != nil {
		return err
	}
	standard := uint64(blackIsZero)
	if samples > 2 {
		standard = rgb
	}
	if p.photometric, err = f.uint(tagPhotometric, standard); err != nil {
		return err
	}
	if p.format == formatUndefined {
		p.format = formatUint
	}
	if samples < 1 || samples > 4 {
		return Unread("pixels have %d samples, 1 to 4 expected: write each channel to its own file", samples)
	}
	if bits > 64 || !readable(p.format, int(bits)) {
		return Unread("samples have %d bits in sample format %d, expected 1 to 16 or 32 bits unsigned (1), 8, 16 or 32 bits signed (2), 32 or 64 bits floating point (3): convert the file", bits, p.format)
	}
	p.samples, p.bits = int(samples), int(bits)
	if err := f.readColours(p); err != nil {
		return err
	}
	channels := p.channels()
	if p.photometric == palette {
		channels = 3
	}
	return CheckSize(p.width, p.height, channels*p.depth().Bytes())
}

func readable(format uint64, bits int) bool {
	switch format {
	case formatUint:
		return 1 <= bits && bits <= 16 || bits == 32
	case formatInt:
		return bits == 8 || bits == 16 || bits == 32
	case formatFloat:
		return bits == 32 || bits == 64
	}
	return false
}

// readColours checks the colour model against the samples, and reads the palette.
func (f *File) readColours(p *page) (err error) {
	p.colours = p.colours[:0]
	whole := p.format == formatUint && p.bits <= 16
	switch p.photometric {
	case blackIsZero:
		return nil
	case whiteIsZero:
		if !whole {
			return Unread("white-is-zero samples have %d bits in sample format %d, 1 to 16 bits unsigned expected: convert the file", p.bits, p.format)
		}
		return nil
	case rgb:
		if p.samples < 3 {
			return fmt.Errorf("RGB pixels have %d samples, 3 or 4 expected: the file is damaged, write it again", p.samples)
		}
		return nil
	case palette:
		if p.samples != 1 || p.format != formatUint || p.bits > 8 {
			return Unread("palette pixels have %d samples of %d bits, one sample of at most 8 bits expected: convert the file to RGB", p.samples, p.bits)
		}
		want := 3 << p.bits
		if p.colours, err = f.uints(p.colours, tagColorMap, want); err != nil {
			return err
		}
		if len(p.colours) != want {
			return fmt.Errorf("the palette has %d values, %d expected: the file is damaged, write it again", len(p.colours), want)
		}
		return nil
	}
	return Unread("pixels in %s are not supported: convert the file to grey or RGB", photometricName(p.photometric))
}

func (f *File) readCompression(p *page) (err error) {
	if p.compression, err = f.uint(tagCompression, uncompressed); err != nil {
		return err
	}
	switch p.compression {
	case uncompressed, lzwCoded, deflated, deflatedOld, packBits:
		return nil
	}
	return Unread("compression %s is not supported: write the file with none, LZW, Deflate or PackBits", compressionName(p.compression))
}

func (f *File) readPredictor(p *page) error {
	fill, err := f.uint(tagFillOrder, 1)
	if err != nil {
		return err
	}
	if fill == fillLowestBitFirst {
		return Unread("bits stored lowest first (fill order 2) are not supported: write the file with fill order 1")
	}
	if p.predictor, err = f.uint(tagPredictor, predictorNone); err != nil {
		return err
	}
	switch {
	case p.predictor == predictorNone:
	case p.compression == uncompressed || p.compression == packBits: // here libtiff ignores the predictor, other programs apply it
		return Unread("predictor %d with compression %s is ambiguous: write the file without a predictor", p.predictor, compressionName(p.compression))
	case p.predictor == predictorHorizontal && (p.bits == 8 || p.bits == 16 || p.bits == 32):
	case p.predictor == predictorFloat && p.format == formatFloat:
	default:
		return Unread("predictor %d on %d-bit samples in sample format %d is not supported: write the file without a predictor", p.predictor, p.bits, p.format)
	}
	return nil
}

func (f *File) readChunks(p *page) error {
	planar, err := f.uint(tagPlanar, 1)
	if err != nil {
		return err
	}
	p.separate = planar == planarSeparate && p.samples > 1
	if p.tiled = f.find(tagTileWidth) != nil; p.tiled {
		err = f.readTileSize(p)
	} else {
		err = f.readStripSize(p)
	}
	if err != nil {
		return err
	}
	offsets, counts := uint16(tagStripOffsets), uint16(tagStripByteCounts)
	if f.find(tagTileOffsets) != nil { // old writers store tile offsets under the strip tags
		offsets, counts = tagTileOffsets, tagTileByteCounts
	}
	p.across, p.down = divideUp(p.width, p.chunkW), divideUp(p.height, p.chunkH)
	chunks := p.across * p.down * p.planes()
	if chunks > maxChunks {
		return Unread("the page has %d strips or tiles, at most %d expected: write the file with larger strips or tiles", chunks, maxChunks)
	}
	if chunk := p.chunkH * p.rowBytes(); chunk > maxChunk {
		return Unread("strips or tiles have %d bytes, at most %d expected: write the file with smaller strips or tiles", chunk, maxChunk)
	}
	if p.offsets, err = f.uints(p.offsets, offsets, maxChunks); err != nil {
		return err
	}
	if p.counts, err = f.uints(p.counts, counts, maxChunks); err != nil {
		return err
	}
	if len(p.offsets) < chunks || len(p.counts) != 0 && len(p.counts) < chunks {
		return fmt.Errorf("the page has %d offsets and %d sizes for %d strips or tiles: the file is damaged, copy it again", len(p.offsets), len(p.counts), chunks)
	}
	return nil
}

func (f *File) readStripSize(p *page) error {
	rows, err := f.uint(tagRowsPerStrip, uint64(p.height))
	if err != nil {
		return err
	}
	if rows == 0 {
		return errors.New("strips have 0 rows, at least 1 expected: the file is damaged, write it again")
	}
	p.chunkW, p.chunkH = p.width, int(min(rows, uint64(p.height)))
	return nil
}

func (f *File) readTileSize(p *page) error {
	w, err := f.uint(tagTileWidth, 0)
	if err != nil {
		return err
	}
	h, err := f.uint(tagTileHeight, 0)
	if err != nil {
		return err
	}
	if err := CheckSize(w, h, 1); err != nil {
		return fmt.Errorf("tiles are too large: %w", err)
	}
	p.chunkW, p.chunkH = int(w), int(h)
	return nil
}

// checkStored rejects a page whose stored bytes cannot fill its pixels, before memory is allocated for it.
func (f *File) checkStored(p *page) error {
	// A packed byte expands to at most 1032 bytes with Deflate, and to fewer than 2730 with TIFF's LZW: a code of 12 bits yields at most 4095 bytes.
	const ratio = 2730
	total := int64(0)
	for i := range p.across * p.down * p.planes() {
		stored, want := f.stored(p, i), int64(p.chunkBytes(i))
		if p.compression != uncompressed {
			want = int64(divideUp(int(want), ratio))
		}
		if p.offsets[i] > uint64(f.size) || stored > f.size-int64(p.offsets[i]) {
			return fmt.Errorf("%w: strip or tile %d is %d bytes at byte %d, but the file ends at %d: copy it again", ErrTorn, i, stored, p.offsets[i], f.size)
		}
		if stored < want {
			return fmt.Errorf("strip or tile %d has %d bytes, at least %d expected: the file is damaged, copy it again", i, stored, want)
		}
		if total += stored; total > f.size {
			return fmt.Errorf("strips or tiles need at least %d bytes in a file of %d, so they overlap: the file is damaged, copy it again", total, f.size)
		}
	}
	return nil
}

// stored returns the bytes of chunk i in the file. Uncompressed chunks use at most their pixels' size. If the file gives no size, an uncompressed chunk has its
// pixels' size, and a compressed chunk extends to the end of the file.
func (f *File) stored(p *page, i int) int64 {
	given := len(p.counts) > 0 && p.counts[i] > 0
	switch {
	case p.compression == uncompressed && given:
		return int64(min(p.counts[i], uint64(p.chunkBytes(i))))
	case p.compression == uncompressed:
		return int64(p.chunkBytes(i))
	case given:
		return int64(min(p.counts[i], math.MaxInt64))
	}
	return f.size - int64(min(p.offsets[i], uint64(f.size)))
}

func (p *page) planes() int {
	if p.separate {
		return p.samples
	}
	return 1
}

// interleaved returns the number of samples of a pixel in a chunk.
func (p *page) interleaved() int {
	if p.separate {
		return 1
	}
	return p.samples
}

// rows returns the height of chunk i. Tiles have their full height; the last strip ends at the picture's last row.
func (p *page) rows(i int) int {
	if p.tiled {
		return p.chunkH
	}
	return min(p.chunkH, p.height-i%p.down*p.chunkH)
}

// rowBytes returns the length of a chunk's row. Rows start at a byte.
func (p *page) rowBytes() int { return divideUp(p.chunkW*p.interleaved()*p.bits, 8) }

// chunkBytes returns the decompressed length of chunk i.
func (p *page) chunkBytes(i int) int { return p.rows(i) * p.rowBytes() }

// contiguous reports whether the page's pixels lie in the file without gaps, in the format of an Image.
func (p *page) contiguous() bool {
	if p.compression != uncompressed || p.tiled || p.separate || p.bits%8 != 0 {
		return false
	}
	for i := 1; i < p.down; i++ {
		if p.offsets[i] != p.offsets[i-1]+uint64(p.chunkBytes(i-1)) {
			return false
		}
	}
	return true
}

func divideUp(a, b int) int { return (a + b - 1) / b }
