package wire

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"driftscope/ingest/tiff"
)

// Bounds on messages.
const (
	MaxBytes  = tiff.MaxBytes // pixel bytes per frame
	MaxChunks = 4096          // messages per frame

	maxSide    = 16384   // pixels
	maxSession = 64      // bytes
	maxNumber  = 20      // digits of the largest uint64
	maxPlaces  = 2 << 20 // bytes of JSON per frame of places
)

// The headers of a message, in the spelling that NATS clients keep.
const (
	nameSession    = "Driftscope-Session"
	nameSeq        = "Driftscope-Seq"
	nameTime       = "Driftscope-Time-Ns"
	nameTrajectory = "Driftscope-Trajectory"
	nameWidth      = "Driftscope-Width"
	nameHeight     = "Driftscope-Height"
	nameChannels   = "Driftscope-Channels"
	namePixelType  = "Driftscope-Pixel-Type"
	nameEncoding   = "Driftscope-Encoding"
	nameFilter     = "Driftscope-Filter"
	nameChunk      = "Driftscope-Chunk"
	nameChunks     = "Driftscope-Chunks"
)

// pixelTypes are NumPy's names of the depths.
var pixelTypes = []string{tiff.Uint8: "uint8", tiff.Uint16: "uint16", tiff.Float32: "float32"}

// Encoding is how a frame's bytes store its pixels.
type Encoding int

// The encodings.
const (
	Raw    Encoding = iota // rows from the top, little-endian, without gaps
	PNG                    // a PNG file
	Zstd                   // one Zstandard frame of the filtered raw bytes
	Places                 // no picture: the places of objects, as JSON
)

// The values of nameEncoding and nameFilter; the first is the default.
var (
	encodings = []string{Raw: "raw", PNG: "png", Zstd: "zstd", Places: "places"}
	filters   = []string{NoFilter: "none", Planes: "planes", Up: "up"}
)

// Header describes a message's frame, and the message's part of it. All messages of a frame agree except in Chunk.
type Header struct {
	Session    string    // identifies one start of the publisher; Seq increases within it
	Seq        uint64    // counts the camera's frames, including lost ones
	Time       time.Time // of acquisition
	Trajectory uint64    // uninterrupted path of the frame

	Width, Height int
	Channels      int // 1, or 3: red, green, blue
	Depth         tiff.Depth
	Encoding      Encoding
	Filter        Filter // for Zstd; otherwise NoFilter

	Chunk, Chunks int // index of this message in the frame, from 0, and number of messages
}

// size returns the bytes of the frame's raw pixels.
func (h *Header) size() int { return h.Width * h.Height * h.Channels * h.Depth.Bytes() }

// room bounds the bytes of a frame's messages together. A compressor enlarges incompressible data slightly.
func (h *Header) room() int {
	switch h.Encoding {
	case Raw:
		return h.size()
	case Places:
		return maxPlaces
	}
	return h.size() + h.size()/8 + 64<<10
}

// check applies parse's bounds to a publisher's header.
func (h *Header) check() error {
	switch {
	case h.Session == "" || len(h.Session) > maxSession:
		return fmt.Errorf("a session of %d bytes, 1 to %d expected: shorten it", len(h.Session), maxSession)
	case h.Channels != 1 && h.Channels != 3 || h.Depth < 0 || int(h.Depth) >= len(pixelTypes):
		return fmt.Errorf("%d channels of depth %d, 1 or 3 of uint8, uint16 or float32 expected: convert the picture", h.Channels, h.Depth)
	case h.Width < 1 || h.Height < 1 || h.Width > maxSide || h.Height > maxSide:
		return fmt.Errorf("%dx%d pixels, 1 to %d a side expected: crop the picture", h.Width, h.Height, maxSide)
	case h.size() > MaxBytes:
		return fmt.Errorf("a picture of %d bytes, at most %d expected: crop it or bin it", h.size(), MaxBytes)
	case h.Filter != NoFilter && h.Encoding != Zstd:
		return fmt.Errorf("filter %s beside encoding %s, which has none: leave %s out", filters[h.Filter], encodings[h.Encoding], nameFilter)
	case h.Filter == Up && h.Depth == tiff.Float32:
		return fmt.Errorf("filter %s beside %s, whose differences are not exact: give %s", filters[Up], pixelTypes[h.Depth], filters[Planes])
	}
	return nil
}

// headers returns h as NATS headers.
func (h *Header) headers() map[string][]string {
	one := func(text string) []string { return []string{text} }
	number := func(n int) []string { return one(strconv.Itoa(n)) }
	headers := map[string][]string{
		nameSession: one(h.Session), nameSeq: one(strconv.FormatUint(h.Seq, 10)),
		nameTime: one(strconv.FormatInt(h.Time.UnixNano(), 10)), nameTrajectory: one(strconv.FormatUint(h.Trajectory, 10)),
		nameWidth: number(h.Width), nameHeight: number(h.Height), nameChannels: number(h.Channels), namePixelType: one(pixelTypes[h.Depth]),
		nameEncoding: one(encodings[h.Encoding]), nameChunk: number(h.Chunk), nameChunks: number(h.Chunks),
	}
	if h.Filter != NoFilter {
		headers[nameFilter] = one(filters[h.Filter])
	}
	return headers
}

// parse reads and checks the headers of a message, and ignores other names.
func parse(headers map[string][]string) (Header, error) {
	p := parser{headers: headers}
	encoding, pixels := Encoding(p.word(nameEncoding, encodings, encodings[Raw])), ""
	if encoding == Places {
		pixels = pixelTypes[tiff.Uint8] // it has none
	}
	h := Header{
		Session:    p.session(),
		Seq:        p.uint(nameSeq, ""),
		Time:       p.time(),
		Trajectory: p.uint(nameTrajectory, "0"),
		Width:      p.int(nameWidth, "", 1, maxSide),
		Height:     p.int(nameHeight, "", 1, maxSide),
		Channels:   p.int(nameChannels, "1", 1, 3),
		Depth:      tiff.Depth(p.word(namePixelType, pixelTypes, pixels)),
		Encoding:   encoding,
		Filter:     Filter(p.word(nameFilter, filters, filters[NoFilter])),
		Chunks:     p.int(nameChunks, "1", 1, MaxChunks),
	}
	h.Chunk = p.int(nameChunk, "0", 0, h.Chunks-1)
	if p.err != nil {
		return Header{}, p.err
	}
	return h, h.check()
}

// parser reads headers one by one and keeps the first error. Its results after an error are meaningless.
type parser struct {
	headers map[string][]string
	err     error
}

// text returns the header's only value, or other if it is missing. An empty other makes the header required.
func (p *parser) text(name, other string) string {
	switch values := p.headers[name]; {
	case len(values) == 1:
		return values[0]
	case len(values) > 1:
		p.fail(name, strings.Join(values[:2], ", "), "one value")
	case other == "":
		p.miss(name)
	}
	return other
}

func (p *parser) miss(name string) {
	if p.err == nil {
		p.err = fmt.Errorf("header %s is missing: docs/reference/frames.md lists the headers of a message", name)
	}
}

func (p *parser) fail(name, found, expected string) {
	if p.err == nil {
		p.err = fmt.Errorf("header %s: found %.80q, expected %s: correct the publisher", name, found, expected)
	}
}

func (p *parser) session() string {
	text := p.text(nameSession, "")
	if p.err == nil && (text == "" || len(text) > maxSession) {
		p.fail(nameSession, text, fmt.Sprintf("1 to %d bytes that name one start of the publisher", maxSession))
	}
	return text
}

func (p *parser) uint(name, other string) uint64 {
	text := p.text(name, other)
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || len(text) > maxNumber {
		p.fail(name, text, "a whole number from 0, below 2^64")
	}
	return n
}

func (p *parser) int(name, other string, least, most int) int {
	text := p.text(name, other)
	n, err := strconv.Atoi(text)
	if err != nil || len(text) > maxNumber || n < least || n > most {
		p.fail(name, text, fmt.Sprintf("a whole number from %d to %d", least, most))
		return least
	}
	return n
}

func (p *parser) time() time.Time {
	text := p.text(nameTime, "")
	ns, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) > maxNumber {
		p.fail(nameTime, text, "whole nanoseconds since 1970 that fit in 64 bits")
	}
	return time.Unix(0, ns).UTC()
}

// word returns the index in words of the header's value.
func (p *parser) word(name string, words []string, other string) int {
	text := p.text(name, other)
	i := slices.Index(words, text)
	if i < 0 {
		p.fail(name, text, "one of "+strings.Join(words, ", "))
	}
	return max(i, 0)
}

// headerRoom is reserved in every message for its headers, which count towards the server's limit.
const headerRoom = 1 << 10

// Split passes a frame's bytes to send in as many messages as needed. limit bounds headers and data of a message together: 1
// MiB on a default server. The arguments of send are valid during the call; its first error ends the frame. Split ignores
// Chunk and Chunks of h.
func Split(h Header, data []byte, limit int, send func(headers map[string][]string, data []byte) error) error {
	if err := h.check(); err != nil {
		return err
	}
	each := limit - headerRoom
	if each < 1 {
		return fmt.Errorf("messages of %d bytes, more than %d expected: raise the server's max_payload", limit, headerRoom)
	}
	if h.Chunks = max(1, (len(data)+each-1)/each); h.Chunks > MaxChunks {
		return fmt.Errorf("a frame of %d bytes in messages of %d is more than %d of them: raise the server's max_payload", len(data), limit, MaxChunks)
	}
	if len(data) > h.room() || len(data) != h.size() && h.Encoding == Raw {
		return errors.New("the frame has another number of bytes than its header says: correct the publisher")
	}
	headers := h.headers()
	for h.Chunk = range h.Chunks {
		headers[nameChunk][0] = strconv.Itoa(h.Chunk)
		if err := send(headers, data[h.Chunk*each:min(len(data), (h.Chunk+1)*each)]); err != nil {
			return err
		}
	}
	return nil
}
