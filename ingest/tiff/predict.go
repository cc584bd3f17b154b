package tiff

import "encoding/binary"

// unpredict undoes the page's predictor in a chunk, row by row, in place.
func (f *File) unpredict(p *page, raw []byte) {
	row := p.rowBytes()
	for ; len(raw) > 0; raw = raw[row:] {
		switch p.predictor {
		case predictorHorizontal:
			f.sumRow(raw[:row], p.interleaved(), p.bits/8)
		case predictorFloat:
			f.joinRow(raw[:row], p.interleaved(), p.bits/8)
		}
	}
}

// sumRow undoes horizontal differencing, TIFF 6.0 section 14: each sample is stored as its difference from the same sample of the previous pixel.
func (f *File) sumRow(row []byte, samples, size int) {
	step := samples * size
	switch size {
	case 1:
		for i := step; i < len(row); i++ {
			row[i] += row[i-step]
		}
	case 2:
		for i := step; i+2 <= len(row); i += 2 {
			f.order.PutUint16(row[i:], f.order.Uint16(row[i:])+f.order.Uint16(row[i-step:]))
		}
	case 4:
		for i := step; i+4 <= len(row); i += 4 {
			f.order.PutUint32(row[i:], f.order.Uint32(row[i:])+f.order.Uint32(row[i-step:]))
		}
	}
}

// joinRow undoes the floating-point predictor, Adobe Photoshop TIFF technical note 3: the row holds the samples' highest
// bytes, then their second bytes and so on, each as the difference from the previous pixel's byte.
func (f *File) joinRow(row []byte, samples, size int) {
	for i := samples; i < len(row); i++ {
		row[i] += row[i-samples]
	}
	f.wide = append(f.wide[:0], row...)
	n := len(row) / size
	little := f.order == binary.LittleEndian
	for b := range size {
		at := b
		if little {
			at = size - 1 - b
		}
		for i := range n {
			row[i*size+at] = f.wide[b*n+i]
		}
	}
}
