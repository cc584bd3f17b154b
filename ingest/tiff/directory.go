package tiff

import "fmt"

// entry is one line of a directory: a tag with count values of a type, stored in value or at the offset in value.
type entry struct {
	tag   uint16
	kind  uint16
	count uint64
	value [8]byte
}

// nextDirectory returns the offset of the directory after the one at offset, or 0 after the last.
func (f *File) nextDirectory(offset int64) (int64, error) {
	entries, start, err := f.entryCount(offset)
	if err != nil {
		return 0, err
	}
	end := start + int64(entries*f.entrySize())
	if f.big {
		err = f.readAt(f.word[:8], end)
		return int64(f.order.Uint64(f.word[:])), err
	}
	err = f.readAt(f.word[:4], end)
	return int64(f.order.Uint32(f.word[:])), err
}

// entryCount returns the number of entries of the directory at offset, and the start of the entries.
func (f *File) entryCount(offset int64) (entries int, start int64, err error) {
	count, width := uint64(0), 2
	if f.big {
		width = 8
	}
	if err := f.readAt(f.word[:width], offset); err != nil {
		return 0, 0, err
	}
	if f.big {
		count = f.order.Uint64(f.word[:])
	} else {
		count = uint64(f.order.Uint16(f.word[:]))
	}
	if count == 0 || count > maxEntries {
		return 0, 0, fmt.Errorf("a directory has %d entries, 1 to %d expected: the file is damaged, copy it again", count, maxEntries)
	}
	return int(count), offset + int64(width), nil
}

func (f *File) entrySize() int {
	if f.big {
		return 20
	}
	return 12
}

// readDirectory reads the entries at offset into f.entries.
func (f *File) readDirectory(offset int64) error {
	count, start, err := f.entryCount(offset)
	if err != nil {
		return err
	}
	size := f.entrySize()
	f.wide = resize(f.wide, count*size)
	if err := f.readAt(f.wide, start); err != nil {
		return err
	}
	f.entries = f.entries[:0]
	for raw := f.wide; len(raw) > 0; raw = raw[size:] {
		e := entry{tag: f.order.Uint16(raw), kind: f.order.Uint16(raw[2:])}
		if f.big {
			e.count = f.order.Uint64(raw[4:])
			copy(e.value[:], raw[12:20])
		} else {
			e.count = uint64(f.order.Uint32(raw[4:]))
			copy(e.value[:], raw[8:12])
		}
		f.entries = append(f.entries, e)
	}
	return nil
}

func (f *File) find(tag uint16) *entry {
	for i := range f.entries {
		if f.entries[i].tag == tag {
			return &f.entries[i]
		}
	}
	return nil
}

// kindSize returns the bytes of one value, or 0 if the type is not an unsigned integer or text.
func kindSize(kind uint16) int {
	switch kind {
	case 1, 2: // BYTE, ASCII
		return 1
	case 3: // SHORT
		return 2
	case 4, 13: // LONG, IFD
		return 4
	case 16, 18: // LONG8, IFD8
		return 8
	}
	return 0
}

// valueBytes returns the first limit bytes of e's values. They lie in e or in f.wide and are valid until the next call.
func (f *File) valueBytes(e *entry, limit uint64) ([]byte, error) {
	size := kindSize(e.kind)
	if size == 0 {
		return nil, fmt.Errorf("tag %d has type %d, a whole number expected: the file is damaged, copy it again", e.tag, e.kind)
	}
	if e.count > uint64(f.size)/uint64(size) {
		return nil, fmt.Errorf("%w: tag %d claims %d values of %d bytes in a file of %d bytes: copy it again", ErrTorn, e.tag, e.count, size, f.size)
	}
	held := e.count * uint64(size)
	inline, offset := f.valuePlace(e)
	if held <= uint64(inline) {
		return e.value[:min(held, limit)], nil
	}
	f.wide = resize(f.wide, int(min(held, limit)))
	return f.wide, f.readAt(f.wide, offset)
}

// valuePlace returns the bytes of values stored in the entry itself, or the file offset of longer values.
func (f *File) valuePlace(e *entry) (inline, offset int64) {
	if f.big {
		return 8, int64(f.order.Uint64(e.value[:]))
	}
	return 4, int64(f.order.Uint32(e.value[:]))
}

// uints reads all values of a tag into dst. A missing tag has no values; more than limit values are an error.
func (f *File) uints(dst []uint64, tag uint16, limit int) ([]uint64, error) {
	dst = dst[:0]
	e := f.find(tag)
	if e == nil {
		return dst, nil
	}
	if e.count > uint64(limit) {
		return dst, fmt.Errorf("tag %d has %d values, at most %d expected: the file is damaged, copy it again", tag, e.count, limit)
	}
	raw, err := f.valueBytes(e, uint64(limit)*8)
	if err != nil {
		return dst, err
	}
	switch size := kindSize(e.kind); size {
	case 1:
		for _, b := range raw {
			dst = append(dst, uint64(b))
		}
	case 2:
		for ; len(raw) > 0; raw = raw[size:] {
			dst = append(dst, uint64(f.order.Uint16(raw)))
		}
	case 4:
		for ; len(raw) > 0; raw = raw[size:] {
			dst = append(dst, uint64(f.order.Uint32(raw)))
		}
	case 8:
		for ; len(raw) > 0; raw = raw[size:] {
			dst = append(dst, f.order.Uint64(raw))
		}
	}
	return dst, nil
}

// uint reads a tag of one value, or returns standard if it is missing. Several values must be equal.
func (f *File) uint(tag uint16, standard uint64) (uint64, error) {
	const limit = 64 // samples per pixel that a tag may describe
	values, err := f.uints(f.page.few, tag, limit)
	f.page.few = values
	if err != nil || len(values) == 0 {
		return standard, err
	}
	for _, v := range values {
		if v != values[0] {
			return 0, Unread("tag %d has different values for the samples of a pixel, %v, which is not supported: write the file with the same value for all", tag, values)
		}
	}
	return values[0], nil
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
