package files

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"driftscope/ingest/ingesttest"
	"driftscope/ingest/tiff"
)

// piece is one write to a growing recording.
type piece struct {
	file *os.File
	at   int64
	data []byte
}

// grower describes how a recording is written. frame(i) returns the writes that add frame i, in order. The last byte of the last write completes the frame.
type grower interface {
	frame(t testing.TB, i int) []piece
}

// shown returns the value of the pixels of frame i. It has no zero byte and differs between frames.
func shown(i int) byte { return byte(i + 1) }

const growW, growH = 24, 20

func shot16(i int) *tiff.Image { return ingesttest.Page(growW, growH, 1, tiff.Uint16, shown(i)) }

// growingPages writes a TIFF page by page.
type growingPages struct {
	order       binary.ByteOrder
	big         bool
	pixelsFirst bool  // writes the link to a page last, like libtiff; otherwise like Micro-Manager, whose links lead to pages that do not exist yet
	start       int64 // offset of the first page
	part        int   // pages per file; 0 for a single file

	path string
	file *os.File
	at   int64 // offset of the next page
	link int64 // offset of the link to the next page
}

// create begins the file, or its n-th part.
func (g *growingPages) create(t testing.TB, n int) (header piece) {
	t.Helper()
	path := g.path
	if n > 0 {
		path = fmt.Sprintf("%s_%d.ome.tif", g.path[:len(g.path)-len(".ome.tif")], n)
	}
	g.file = create(t, path)
	g.at = g.start
	head := []byte("II")
	if g.order == binary.ByteOrder(binary.BigEndian) {
		head = []byte("MM")
	}
	first := uint64(g.start)
	if g.pixelsFirst {
		first = 0
	}
	if g.big {
		g.link = 8
		head = appendUint(appendUint(appendUint(head, g.order, 2, 43), g.order, 4, 8), g.order, 8, first)
		if g.order == binary.ByteOrder(binary.LittleEndian) {
			g.order.PutUint32(head[4:], 8)
		}
	} else {
		g.link = 4
		head = appendUint(appendUint(head, g.order, 2, 42), g.order, 4, first)
	}
	return piece{g.file, 0, head}
}

func create(t testing.TB, path string) *os.File {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func appendUint(b []byte, order binary.ByteOrder, size int, v uint64) []byte {
	var full [8]byte
	switch size {
	case 2:
		order.PutUint16(full[:], uint16(v))
	case 4:
		order.PutUint32(full[:], uint32(v))
	case 8:
		order.PutUint64(full[:], v)
	}
	return append(b, full[:size]...)
}

func (g *growingPages) frame(t testing.TB, i int) (pieces []piece) {
	t.Helper()
	switch {
	case g.file == nil:
		pieces = append(pieces, g.create(t, 0))
	case g.part > 0 && i%g.part == 0: // the link of the full file's last page becomes zero
		pieces = append(pieces, piece{g.file, g.link, make([]byte, g.word())})
		pieces = append(pieces, g.create(t, i/g.part))
	}
	pix := shot16(i).Pix
	size := int64(g.directorySize())
	if g.pixelsFirst {
		directory := g.at + int64(len(pix))
		pieces = append(pieces, piece{g.file, g.at, pix}, piece{g.file, directory, g.directory(g.at, 0)},
			piece{g.file, g.link, appendUint(nil, g.order, g.word(), uint64(directory))})
		g.link, g.at = directory+size-int64(g.word()), directory+size
		return pieces
	}
	next := g.at + size + int64(len(pix))
	pieces = append(pieces, piece{g.file, g.at, append(g.directory(g.at+size, next), pix...)})
	g.link, g.at = g.at+size-int64(g.word()), next
	return pieces
}

func (g *growingPages) word() int {
	if g.big {
		return 8
	}
	return 4
}

const growTags = 9

func (g *growingPages) directorySize() int {
	if g.big {
		return 8 + 20*growTags + 8
	}
	return 2 + 12*growTags + 4
}

// directory describes a grey page of 16 bits in one strip.
func (g *growingPages) directory(pixels, next int64) (b []byte) {
	size := uint64(growW * growH * 2)
	b = appendUint(b, g.order, map[bool]int{false: 2, true: 8}[g.big], growTags)
	for _, e := range [growTags][2]uint64{
		{256, growW}, {257, growH}, {258, 16}, {259, 1}, {262, 1}, {273, uint64(pixels)}, {277, 1}, {278, growH}, {279, size},
	} {
		b = appendUint(appendUint(b, g.order, 2, e[0]), g.order, 2, 4) // LONG
		b = appendUint(b, g.order, g.word(), 1)
		b = appendUint(b, g.order, 4, e[1])
		b = append(b, make([]byte, g.word()-4)...)
	}
	return appendUint(b, g.order, g.word(), uint64(next))
}

// growingND writes an NDTiff: pixels, metadata, entry.
type growingND struct {
	*nd
	dir string
}

func (g *growingND) frame(t testing.TB, i int) []piece {
	t.Helper()
	if g.nd == nil {
		g.nd = newND(t, g.dir)
	}
	entry := g.put(t, fmt.Sprintf(`{"channel":"A","time":%d}`, i), fmt.Sprintf(`{"ElapsedTime-ms": %d}`, 40*i), shot16(i))
	at := g.entry
	g.entry += int64(len(entry))
	return []piece{{g.index, at, entry}}
}

// growingFiles writes pictures, each to a file of its own.
type growingFiles struct {
	dir, ending string
}

func (g *growingFiles) frame(t testing.TB, i int) []piece {
	t.Helper()
	data := ingesttest.EncodeTIFF(t, shot16(i))
	if g.ending == ".png" {
		data = ingesttest.EncodePNG(t, ingesttest.Grey(growW, growH, shown(i)))
	}
	return []piece{{create(t, filepath.Join(g.dir, fmt.Sprintf("f_%d%s", i+7, g.ending))), 0, data}}
}
