package tiff

import "encoding/binary"

// decode turns the current page into pixels. skip is added to the file offsets in the page's directory.
func (f *File) decode(dst *Image, skip int64) error {
	p := &f.page
	if p.photometric != palette {
		dst.shape(p.width, p.height, p.channels(), p.depth())
		if err := f.decodeChunks(dst, skip); err != nil {
			return err
		}
		if p.photometric == whiteIsZero {
			dst.invert(p.bits)
		}
		return nil
	}
	f.indices.shape(p.width, p.height, 1, Uint8)
	if err := f.decodeChunks(&f.indices, skip); err != nil {
		return err
	}
	dst.shape(p.width, p.height, 3, Uint8)
	for i, index := range f.indices.Pix {
		if p.bits == 1 {
			index &= 1 // decoding had turned 1 into 255
		}
		for c := range 3 {
			dst.Pix[3*i+c] = uint8(p.colours[c<<p.bits+int(index)] >> 8)
		}
	}
	return nil
}

func (p *page) channels() int {
	if p.samples >= 3 {
		return 3
	}
	return 1
}

func (p *page) depth() Depth {
	switch {
	case p.format == formatUint && p.bits <= 8:
		return Uint8
	case p.format == formatUint && p.bits <= 16:
		return Uint16
	}
	return Float32
}

func (f *File) decodeChunks(dst *Image, skip int64) error {
	p := &f.page
	plane := p.across * p.down
	for i := range plane * p.planes() {
		channel := i / plane
		if channel >= dst.Channels {
			return nil // the plane of alpha
		}
		raw, err := f.readChunk(p, i, skip)
		if err != nil {
			return err
		}
		f.place(dst, raw, channel, i%plane%p.across*p.chunkW, i%plane/p.across*p.chunkH)
	}
	return nil
}

// place converts a chunk and copies it to (x, y) of dst, into the given channel, or into all channels if samples are
// interleaved.
func (f *File) place(dst *Image, raw []byte, channel, x, y int) {
	p := &f.page
	size := dst.Depth.Bytes()
	pixel := dst.Channels * size
	width, height := min(p.chunkW, p.width-x), min(p.chunkH, p.height-y)
	stored := p.stored(f.order)
	for r := range height {
		src, srcSize := raw[r*p.rowBytes():(r+1)*p.rowBytes()], p.bits/8
		if p.bits%8 != 0 {
			src, srcSize = f.unpack(src), size
		}
		row := dst.Pix[((y+r)*p.width+x)*pixel:]
		row = row[:width*pixel]
		if !p.separate && dst.Channels == p.samples {
			stored.Convert(row, src, Run{width * p.samples, size, srcSize})
			continue
		}
		for c := range min(dst.Channels, p.interleaved()) {
			stored.Convert(row[(channel+c)*size:], src[c*srcSize:], Run{width, pixel, srcSize * p.interleaved()})
		}
	}
}

// unpack expands samples that share bytes, packed from the highest bit, to one or two bytes each, in the file's byte order. 1-bit samples become 0 or 255.
func (f *File) unpack(src []byte) []byte {
	p := &f.page
	n := p.chunkW * p.interleaved()
	size := p.depth().Bytes()
	f.wide = resize(f.wide, n*size)
	held, have := uint32(0), 0
	for i := range n {
		for have < p.bits {
			held, have, src = held<<8|uint32(src[0]), have+8, src[1:]
		}
		have -= p.bits
		v := held >> have & (1<<p.bits - 1)
		switch {
		case p.bits == 1:
			f.wide[i] = uint8(255 * v)
		case size == 1:
			f.wide[i] = uint8(v)
		default:
			f.order.PutUint16(f.wide[2*i:], uint16(v))
		}
	}
	return f.wide
}

// invert replaces each sample by its difference from the largest value of the given number of bits, because zero is white in the file.
func (img *Image) invert(bits int) {
	if bits <= 8 {
		white := uint8(1<<bits - 1)
		if bits == 1 {
			white = 255
		}
		for i, v := range img.Pix {
			img.Pix[i] = white - v
		}
		return
	}
	white := uint16(1<<bits - 1)
	for i := 0; i < len(img.Pix); i += 2 {
		binary.LittleEndian.PutUint16(img.Pix[i:], white-binary.LittleEndian.Uint16(img.Pix[i:]))
	}
}

// stored returns the storage format of a chunk's samples, after unpack for samples that shared bytes.
func (p *page) stored(order binary.ByteOrder) Samples {
	s := Samples{Unsigned, divideUp(p.bits, 8), order == binary.BigEndian}
	switch p.format {
	case formatInt:
		s.Kind = Signed
	case formatFloat:
		s.Kind = Floating
	}
	return s
}
