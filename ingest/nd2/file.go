package nd2

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// Magic is the first bytes of an ND2 file and of every chunk in it.
const Magic = "\xda\xce\xbe\x0a"

// The names of chunks.
const (
	fileName = "ND2 FILE SIGNATURE CHUNK NAME01!"
	mapName  = "ND2 FILEMAP SIGNATURE NAME 0001!"
	mapEnd   = "ND2 CHUNK MAP SIGNATURE 0000001!"
	picture  = "ImageDataSeq|"
)

// Bounds on parts of a file.
const (
	maxMap      = 256 << 20 // bytes of the map of chunks
	maxMetadata = 32 << 20
	maxName     = 1 << 16
	maxPacked   = 256 << 20 // bytes of a picture with all components
	maxChannels = 64
)

// Film is an open file. Not safe for concurrent use.
type Film struct {
	Width, Height           int
	Times, Channels, Slices int
	Labels                  []string // names of the channels; may lack the last ones, or all
	Interval                float64  // time step in seconds from the metadata; 0 if unknown
	PixelUM                 float64  // side of a pixel in micrometres; 0 if unknown

	file     bounded.File
	chunks   map[string]int64 // offsets of metadata chunks
	pictures map[int]int64    // offsets of pictures by number
	format   format
	stride   [2]int // steps of the picture number per time and per slice
	zlib     bounded.Zlib
	raw      []byte // a picture as stored
	plain    []byte // the picture with all its components, unpacked
	head     []byte // head of a chunk, or time of a picture
}

// headBytes is the length of a chunk's head: magic, length of the name and length of the data.
const headBytes = 16

// Open reads the map and the metadata of a file of the given size.
func Open(r io.ReaderAt, size int64) (*Film, error) {
	f := &Film{file: bounded.File{R: r, Size: size}, chunks: map[string]int64{}, pictures: map[int]int64{}}
	if err := f.checkVersion(); err != nil {
		return nil, err
	}
	if err := f.readMap(); err != nil {
		return nil, err
	}
	if len(f.pictures) == 0 {
		return nil, errors.New("there is no picture in its map of chunks, because its writer stopped before the first: record or copy it again")
	}
	attributes, err := f.metadata("ImageAttributesLV!", "SLxImageAttributes")
	if err != nil {
		return nil, err
	}
	if err := f.readFormat(attributes); err != nil {
		return nil, err
	}
	if err := f.readLoops(); err != nil {
		return nil, err
	}
	f.describe()
	return f, nil
}

// checkVersion rejects all versions except 3.
func (f *Film) checkVersion() error {
	const head = int64(headBytes + len(fileName) + 64)
	b, err := f.file.Bytes(nil, 0, uint64(min(head, f.file.Size)))
	if err != nil {
		return err
	}
	if bytes.HasPrefix(b, []byte("\x00\x00\x00\x0cjP  ")) {
		return tiff.Unread("it is of version 1, a JPEG 2000, but version 3 is expected: save it with a current NIS-Elements, or export it as TIFF")
	}
	if int64(len(b)) < head || string(b[:4]) != Magic || string(b[headBytes:][:len(fileName)]) != fileName {
		return fmt.Errorf("it begins with %x, %x and %s expected: give an ND2 file", b[:min(len(b), 8)], Magic, fileName)
	}
	version, _, _ := bytes.Cut(b[headBytes+len(fileName):], []byte{0})
	var major int
	if n, err := fmt.Sscanf(string(version), "Ver%d", &major); n != 1 || err != nil || major < 3 {
		return tiff.Unread("it is of version %.16q, Ver3.0 expected: save it with a current NIS-Elements, or export it as TIFF", version)
	}
	return nil
}

// chunk returns the offset and length of a chunk's data.
func (f *Film) chunk(at int64) (begin, n int64, err error) {
	if f.head, err = f.file.Bytes(f.head, uint64(at), headBytes); err != nil {
		return 0, 0, err
	}
	head := f.head
	name, length := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint64(head[8:])
	if string(head[:4]) != Magic || name > maxName {
		return 0, 0, fmt.Errorf("no chunk begins at byte %d, although its map lists one there: the file is damaged, copy it again", at)
	}
	begin = at + headBytes + int64(name)
	if length > uint64(f.file.Size) || begin > f.file.Size-int64(length) {
		return 0, 0, fmt.Errorf("%w: a chunk has %d bytes at byte %d, but the file ends at %d", bounded.ErrTorn, length, at, f.file.Size)
	}
	return begin, int64(length), nil
}

// readMap reads the map of chunks at the end of the file.
func (f *Film) readMap() error {
	end, err := f.file.Bytes(nil, uint64(f.file.Size-int64(len(mapEnd))-8), uint64(len(mapEnd)+8))
	if err != nil {
		return err
	}
	if string(end[:len(mapEnd)]) != mapEnd {
		return fmt.Errorf("%w: it does not end with a map of chunks, because its writer did not finish", bounded.ErrTorn)
	}
	at := int64(binary.LittleEndian.Uint64(end[len(mapEnd):]))
	begin, n, err := f.chunk(at)
	if err != nil {
		return err
	}
	if n > maxMap {
		return tiff.Unread("its map of chunks has %d bytes, at most %d expected: split the recording", n, maxMap)
	}
	b, err := f.file.Bytes(nil, uint64(begin), uint64(n))
	if err != nil {
		return err
	}
	for {
		name, rest, found := bytes.Cut(b, []byte("!"))
		switch {
		case found && string(name) == mapEnd[:len(mapEnd)-1]:
			return nil
		case !found || len(rest) < 16 || len(name) >= maxName:
			return fmt.Errorf("its map of chunks lacks its end mark (%s): the file is damaged, copy it again", mapName)
		}
		f.take(name, int64(binary.LittleEndian.Uint64(rest)))
		b = rest[16:]
	}
}

// take records the offset of a chunk that Film uses.
func (f *Film) take(name []byte, at int64) {
	if number, found := bytes.CutPrefix(name, []byte(picture)); found {
		if n, err := strconv.Atoi(string(number)); err == nil && n >= 0 && n < bounded.MaxFrames {
			f.pictures[n] = at
		}
		return
	}
	for _, known := range []string{"ImageAttributesLV", "ImageMetadataLV", "ImageMetadataSeqLV|0", "ImageCalibrationLV|0"} {
		if string(name) == known {
			f.chunks[known+"!"] = at
		}
	}
}

// metadata reads a chunk of metadata and returns the named level.
func (f *Film) metadata(name, root string) (level, error) {
	at, found := f.chunks[name]
	if !found {
		return nil, fmt.Errorf("there is no chunk %s in its map: the file is damaged, copy it again", name)
	}
	begin, n, err := f.chunk(at)
	if err != nil {
		return nil, err
	}
	if n > maxMetadata {
		return nil, tiff.Unread("%s has %d bytes, at most %d expected: export it as TIFF", name, n, maxMetadata)
	}
	b, err := f.file.Bytes(nil, uint64(begin), uint64(n))
	if err != nil {
		return nil, err
	}
	top, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: the file is damaged, copy it again", name, err)
	}
	if inside := top.level(root); inside != nil {
		return inside, nil
	}
	return top, nil
}

// number returns the number of the picture at a time and slice, from 0.
func (f *Film) number(time, slice int) int { return time*f.stride[0] + slice*f.stride[1] }

// At returns the acquisition time of a picture, in seconds since the beginning (the file stores milliseconds), or NaN if the picture does not exist.
func (f *Film) At(time, slice int) (float64, error) {
	at, found := f.pictures[f.number(time, slice)]
	if !found {
		return math.NaN(), nil
	}
	begin, n, err := f.chunk(at)
	if err != nil {
		return 0, err
	}
	if n < stampBytes {
		return math.NaN(), nil
	}
	if f.head, err = f.file.Bytes(f.head, uint64(begin), stampBytes); err != nil {
		return 0, err
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(f.head)) / 1e3, nil
}

// stampBytes is the length of the time stamp in front of a picture.
const stampBytes = 8

// Read reads the picture at a time, channel and slice, all counted from 0. found is false if the file has no such picture.
func (f *Film) Read(dst *tiff.Image, time, channel, slice int) (found bool, err error) {
	at, found := f.pictures[f.number(time, slice)]
	if !found {
		return false, nil
	}
	begin, n, err := f.chunk(at)
	if err != nil {
		return true, err
	}
	begin, n = begin+stampBytes, n-stampBytes
	if n < 0 || n > maxPacked {
		return true, tiff.Unread("the picture has %d bytes, at most %d expected: export it as TIFF", n, maxPacked)
	}
	dst.Width, dst.Height, dst.Channels, dst.Depth = f.Width, f.Height, 1, f.format.depth
	size, want := dst.Width*dst.Height*dst.Depth.Bytes(), f.Height*f.format.rowBytes
	if !f.format.packed && want == size && n >= int64(want) {
		dst.Pix, err = f.file.Bytes(dst.Pix, uint64(begin), uint64(want))
		return true, err
	}
	rows, err := f.rows(begin, n, want)
	if err != nil {
		return true, err
	}
	dst.Pix = bounded.Resized(dst.Pix, size)
	f.pick(dst, rows, channel)
	return true, nil
}

// rows reads all components of a picture stored in n bytes. The result is valid until the next call.
func (f *Film) rows(begin, n int64, want int) (_ []byte, err error) {
	if f.format.packed {
		if f.raw, err = f.file.Bytes(f.raw, uint64(begin), uint64(n)); err != nil {
			return nil, err
		}
		f.plain = bounded.Resized(f.plain, want)
		return f.plain, f.zlib.Fill(f.plain, f.raw)
	}
	if n < int64(want) {
		return nil, fmt.Errorf("%w: the picture has %d bytes, %d expected from its size", bounded.ErrTorn, n, want)
	}
	f.raw, err = f.file.Bytes(f.raw, uint64(begin), uint64(want))
	return f.raw, err
}

// pick copies one component of every pixel to dst.
func (f *Film) pick(dst *tiff.Image, rows []byte, channel int) {
	size := dst.Depth.Bytes()
	stored := tiff.Samples{Kind: tiff.Unsigned, Bytes: size}
	if dst.Depth == tiff.Float32 {
		stored.Kind = tiff.Floating
	}
	run := tiff.Run{N: f.Width, To: size, From: size * f.Channels}
	for y := range f.Height {
		stored.Convert(dst.Pix[y*f.Width*size:][:f.Width*size], rows[y*f.format.rowBytes+channel*size:], run)
	}
}
