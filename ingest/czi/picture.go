package czi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// The supported compressions.
const (
	plain = 0
	zstd0 = 5
	zstd1 = 6
)

// compressionName returns the name of a compression.
func compressionName(c int) string {
	if name, known := map[int]string{1: "JPEG", 2: "LZW", 4: "JPEG XR"}[c]; known {
		return name
	}
	return "number " + strconv.Itoa(c)
}

// The supported pixel types.
const (
	gray8  = 0
	gray16 = 1
	float  = 2
	bgr24  = 3
	bgr48  = 4
)

// pixelType returns the name of a type and its bytes per pixel, 0 if unsupported.
func pixelType(kind int) (name string, bytes int) {
	switch kind {
	case gray8:
		return "Gray8", 1
	case gray16:
		return "Gray16", 2
	case float:
		return "Gray32Float", 4
	case bgr24:
		return "Bgr24", 3
	case bgr48:
		return "Bgr48", 6
	}
	others := map[int]string{8: "Bgr96Float", 9: "Bgra32", 10: "Gray64ComplexFloat", 11: "Bgr192ComplexFloat", 12: "Gray32", 13: "Gray64"}
	if name, known := others[kind]; known {
		return name, 0
	}
	return "number " + strconv.Itoa(kind), 0
}

// subblock holds the offsets of a subblock's parts.
type subblock struct {
	tags, data         int64
	tagBytes, allBytes int64
}

// locate reads the sizes of a subblock.
func (f *Film) locate(e *entry) (s subblock, err error) {
	const sizes = 16 // bytes of sizes in front of the copy of the directory entry
	head, err := f.segment(f.head, e.at, "ZISRAWSUBBLOCK", sizes+entryBytes)
	if err != nil {
		return s, err
	}
	f.head = head[:0]
	little := binary.LittleEndian
	tags, data, axes := int64(int32(little.Uint32(head))), int64(little.Uint64(head[8:])), int64(little.Uint32(head[sizes+28:]))
	if tags < 0 || data < 0 || axes > maxAxes {
		return s, fmt.Errorf("the subblock has %d bytes of metadata, %d of data and %d axes, lengths of at least 0 and at most 16 axes expected: the file is damaged, copy it again", tags, data, axes)
	}
	s.tags = e.at + headBytes + max(256, sizes+entryBytes+axes*axisBytes)
	s.tagBytes, s.data, s.allBytes = tags, s.tags+tags, data
	return s, nil
}

// Read reads the picture at a time, channel and slice, all counted from 0. found is false if the file has no such picture.
func (f *Film) Read(dst *tiff.Image, time, channel, slice int) (found bool, err error) {
	e := f.pictures[place{time, channel, slice}]
	if e == nil {
		return false, nil
	}
	s, err := f.locate(e)
	if err != nil {
		return true, err
	}
	_, pixelBytes := pixelType(e.pixel)
	want := e.width * e.height * pixelBytes
	switch {
	case s.allBytes > maxPacked:
		return true, tiff.Unread("the picture has %d bytes, at most %d expected: export smaller pictures", s.allBytes, maxPacked)
	case e.compression == plain && s.allBytes < int64(want):
		return true, fmt.Errorf("%w: the picture has %d bytes, %d expected from its size", bounded.ErrTorn, s.allBytes, want)
	}
	e.shape(dst)
	if e.compression == plain {
		dst.Pix, err = f.file.Bytes(dst.Pix, uint64(s.data), uint64(want))
	} else if f.packed, err = f.file.Bytes(f.packed, uint64(s.data), uint64(s.allBytes)); err == nil {
		dst.Pix = bounded.Resized(dst.Pix, want)
		err = f.unpacker.unpack(dst.Pix, f.packed, e.compression)
	}
	if err == nil && dst.Channels == 3 {
		turnColours(dst)
	}
	return true, err
}

// shape gives dst the subblock's size and leaves its pixels unset.
func (e *entry) shape(dst *tiff.Image) {
	dst.Width, dst.Height, dst.Channels, dst.Depth = e.width, e.height, 1, tiff.Uint8
	switch e.pixel {
	case gray16, bgr48:
		dst.Depth = tiff.Uint16
	case float:
		dst.Depth = tiff.Float32
	}
	if e.pixel == bgr24 || e.pixel == bgr48 {
		dst.Channels = 3
	}
}

// turnColours changes the order of samples from blue, green, red to red, green, blue.
func turnColours(picture *tiff.Image) {
	size := picture.Depth.Bytes()
	for p := picture.Pix; len(p) >= 3*size; p = p[3*size:] {
		for i := range size {
			p[i], p[2*size+i] = p[2*size+i], p[i]
		}
	}
}

// unpacker holds memory for unpacking. The zero value is ready.
type unpacker struct {
	zstd  bounded.Zstd
	plain []byte // shuffled
}

// unpack decompresses packed into dst, which it must fill exactly.
func (u *unpacker) unpack(dst, packed []byte, compression int) (err error) {
	halves := false
	if compression == zstd1 {
		if packed, halves, err = zstd1Header(packed); err != nil {
			return err
		}
	}
	to := dst
	if halves {
		u.plain = bounded.Resized(u.plain, len(dst))
		to = u.plain
	}
	pix, err := u.zstd.Unpack(to, packed)
	if err != nil {
		return fmt.Errorf("%d bytes of Zstandard: %w: the file is damaged, copy it again", len(packed), err)
	}
	if len(pix) != len(dst) {
		return fmt.Errorf("it unpacks to %d bytes, %d expected from its size: the file is damaged, copy it again", len(pix), len(dst))
	}
	if halves {
		bounded.Unshuffle(dst, pix, 2)
	}
	return nil
}

// zstd1Header removes the header in front of the Zstandard frame: its length, then chunks. Only one type of chunk is known; its lowest bit means that all lower
// bytes precede all upper bytes.
func zstd1Header(packed []byte) (frame []byte, halves bool, err error) {
	if len(packed) < 2 || packed[0] < 1 || int(packed[0]) > len(packed) {
		return nil, false, errors.New("the header in front of Zstandard is incomplete: the file is damaged, copy it again")
	}
	head, frame := packed[1:packed[0]], packed[packed[0]:]
	switch {
	case len(head) == 0:
	case len(head) == 2 && head[0] == 1:
		halves = head[1]&1 != 0
	default:
		return nil, false, tiff.Unread("the header in front of Zstandard is %x, 01 and a byte expected: export it without compression", head[:min(len(head), 8)])
	}
	return frame, halves, nil
}

// Close frees the memory for reading.
func (f *Film) Close() { f.unpacker.zstd.Close() }

// between returns the text between two markers.
func between(text []byte, begin, end string) (string, bool) {
	_, rest, found := bytes.Cut(text, []byte(begin))
	if !found {
		return "", false
	}
	inside, _, found := bytes.Cut(rest, []byte(end))
	return string(inside), found
}
