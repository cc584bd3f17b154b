package czi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"driftscope/ingest/bounded"
	"driftscope/ingest/tiff"
)

// Magic is the first bytes of a CZI file.
const Magic = "ZISRAWFILE"

// Bounds on parts of a file.
const (
	maxDirectory = 256 << 20 // bytes of the directory, enough for a million pictures
	maxXML       = 32 << 20
	maxTags      = 1 << 20             // bytes of the metadata of a subblock
	maxPacked    = bounded.MaxUnpacked // bytes of a picture, compressed
)

// Film is an open file. Not safe for concurrent use.
type Film struct {
	Times, Channels, Slices int
	Labels                  []string   // names of the channels; may lack the last ones, or all
	Interval                float64    // time step in seconds from the metadata; 0 if unknown
	PixelUM                 [2]float64 // sides of a pixel along x and y, micrometres; 0 if unknown

	file     bounded.File
	pictures map[place]*entry
	stamps   []float64 // seconds, one per time
	unpacker unpacker
	packed   []byte
	head     []byte // of a subblock
	tags     []byte // of a subblock
}

// place is the time, channel and slice of a picture, from 0.
type place [3]int

// headBytes is the length of a segment's head: name, allocated bytes and used bytes.
const headBytes = 32

// Open reads the directory of a file of the given size.
func Open(r io.ReaderAt, size int64) (*Film, error) {
	f := &Film{file: bounded.File{R: r, Size: size}}
	head, err := f.segment(nil, 0, Magic, 80)
	if err != nil {
		return nil, err
	}
	little := binary.LittleEndian
	part, directory, metadata, attachments := int32(little.Uint32(head[48:])), int64(little.Uint64(head[52:])), int64(little.Uint64(head[60:])), int64(little.Uint64(head[72:]))
	switch {
	case part != 0:
		return nil, tiff.Unread("it is part %d of several files, one file expected: export it as one file", part)
	case directory == 0:
		return nil, errors.New("it has no directory of pictures, because its writer did not finish: record or copy it again")
	}
	if err := f.readDirectory(directory); err != nil {
		return nil, err
	}
	if metadata != 0 {
		f.describe(metadata)
	}
	if attachments != 0 {
		f.readStamps(attachments)
	}
	return f, nil
}

// segment reads the first n bytes of the named segment after its head into b, and reuses its memory.
func (f *Film) segment(b []byte, at int64, name string, n int) (_ []byte, err error) {
	if b, err = f.file.Bytes(b, uint64(at), uint64(headBytes+n)); err != nil {
		return nil, err
	}
	if found, _, _ := bytes.Cut(b[:16], []byte{0}); string(found) != name {
		return nil, fmt.Errorf("the segment at byte %d is %.16q, %s expected: the file is damaged, copy it again", at, found, name)
	}
	return b[headBytes:], nil
}

// entry is a directory entry of a subblock.
type entry struct {
	at            int64
	pixel         int
	compression   int
	width, height int
}

// entryBytes is the length of an entry without its axes; axisBytes is the length of each axis.
const (
	entryBytes = 32
	axisBytes  = 20
	maxAxes    = 16
)

// readDirectory reads the list of pictures.
func (f *Film) readDirectory(at int64) error {
	const spare = 128
	head, err := f.file.Bytes(nil, uint64(at), headBytes)
	if err != nil {
		return err
	}
	used := binary.LittleEndian.Uint64(head[24:])
	if used == 0 {
		used = binary.LittleEndian.Uint64(head[16:])
	}
	if used < spare || used > maxDirectory {
		return tiff.Unread("its directory has %d bytes, %d to %d expected: split the recording", used, spare, maxDirectory)
	}
	b, err := f.segment(nil, at, "ZISRAWDIRECTORY", int(used))
	if err != nil {
		return err
	}
	count := int(int32(binary.LittleEndian.Uint32(b)))
	b = b[spare:]
	d := directory{others: map[string]int{}}
	if most := len(b) / (entryBytes + 2*axisBytes); count <= most { // each entry has at least the axes of width and height
		d.entries, d.places = make([]entry, 0, max(count, 0)), make([]place, 0, max(count, 0))
	}
	for n := range count {
		if b, err = d.take(b); err != nil {
			return fmt.Errorf("picture %d of %d: %w", n+1, count, err)
		}
	}
	return f.lay(&d)
}

// directory holds the entries read so far.
type directory struct {
	entries []entry
	places  []place
	others  map[string]int // common position of all pictures along other axes
	reduced int
}

// take reads an entry and returns the remaining bytes.
func (d *directory) take(b []byte) ([]byte, error) {
	if len(b) < entryBytes || string(b[:2]) != "DV" {
		return nil, errors.New("the directory lacks the mark DV of an entry: the file is damaged, copy it again")
	}
	little := binary.LittleEndian
	e := entry{at: int64(little.Uint64(b[6:])), pixel: int(little.Uint32(b[2:])), compression: int(int32(little.Uint32(b[18:])))}
	part, n := little.Uint32(b[14:]), int(little.Uint32(b[28:]))
	if part != 0 {
		return nil, tiff.Unread("it is in part %d of several files, one file expected: export it as one file", part)
	}
	if n < 0 || n > maxAxes || len(b) < entryBytes+n*axisBytes {
		return nil, fmt.Errorf("the entry has %d axes, at most %d expected: the file is damaged, copy it again", n, maxAxes)
	}
	var at place
	whole := true
	var others map[string]int // usually nil
	for i := range n {
		axis := b[entryBytes+i*axisBytes:][:axisBytes]
		name, _, _ := bytes.Cut(axis[:4], []byte{0})
		start, size, kept := int(int32(little.Uint32(axis[4:]))), int(int32(little.Uint32(axis[8:]))), int(int32(little.Uint32(axis[16:])))
		if size < 1 {
			return nil, fmt.Errorf("the entry has length %d along %.4q, at least 1 expected: the file is damaged, copy it again", size, name)
		}
		whole = whole && (kept == 0 || kept == size)
		letter := string(name)
		switch letter {
		case "X":
			e.width = size
		case "Y":
			e.height = size
		case "T":
			at[0] = start
		case "C":
			at[1] = start
		case "Z":
			at[2] = start
		default:
			if others == nil {
				others = map[string]int{}
			}
			others[letter] = start
		}
		if size != 1 && letter != "X" && letter != "Y" && whole {
			return nil, tiff.Unread("the entry has %d pictures along %.4q, one expected: export it as OME-TIFF", size, name)
		}
	}
	b = b[entryBytes+n*axisBytes:]
	if !whole {
		d.reduced++
		return b, nil
	}
	for letter, start := range others {
		if before, met := d.others[letter]; met && before != start {
			return nil, tiff.Unread("there are several %s, one expected: export one of them as a separate file", otherAxis(letter))
		}
		d.others[letter] = start
	}
	d.entries, d.places = append(d.entries, e), append(d.places, at)
	return b, e.check()
}

// otherAxis returns the plural name of an axis that the options cannot select.
func otherAxis(letter string) string {
	names := map[string]string{"S": "scenes", "M": "tiles of a mosaic", "H": "phases", "I": "illuminations", "V": "views", "R": "rotations", "B": "blocks"}
	if name, known := names[letter]; known {
		return name
	}
	return fmt.Sprintf("positions along an axis %.4q", letter)
}

// check rejects files that Read does not support.
func (e *entry) check() error {
	name, bytes := pixelType(e.pixel)
	switch {
	case bytes == 0:
		return tiff.Unread("it has pixels of type %s, Gray8, Gray16, Gray32Float, Bgr24 or Bgr48 expected: export it as OME-TIFF", name)
	case e.compression != plain && e.compression != zstd0 && e.compression != zstd1:
		return tiff.Unread("it is compressed as %s, no compression or Zstandard expected: export it without compression", compressionName(e.compression))
	}
	return tiff.CheckSize(e.width, e.height, bytes)
}

// lay counts times, channels and slices.
func (f *Film) lay(d *directory) error {
	if len(d.entries) == 0 {
		return fmt.Errorf("it has no picture in full size, only %d reduced ones: record or export it again", d.reduced)
	}
	least, most := d.places[0], d.places[0]
	for _, at := range d.places {
		for i := range at {
			least[i], most[i] = min(least[i], at[i]), max(most[i], at[i])
		}
	}
	count := [3]int{}
	for i := range count {
		if count[i] = most[i] - least[i] + 1; count[i] > bounded.MaxFrames {
			return tiff.Unread("it has %d positions along %c, at most %d expected: split the recording", count[i], "TCZ"[i], bounded.MaxFrames)
		}
	}
	f.Times, f.Channels, f.Slices = count[0], count[1], count[2]
	f.pictures = make(map[place]*entry, len(d.entries))
	for n, at := range d.places {
		for i := range at {
			at[i] -= least[i]
		}
		if f.pictures[at] != nil {
			return tiff.Unread("there are several tiles of the picture at time %d, channel %d, slice %d, one expected: stitch and export it", at[0]+1, at[1]+1, at[2]+1)
		}
		f.pictures[at] = &d.entries[n]
	}
	return nil
}
