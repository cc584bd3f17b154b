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

// The names of a message's headers, in a spelling that NATS clients do not change.
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

// Encoding is the format in which a frame's bytes store its pixels.
type Encoding int

// The encodings.
const (
	Raw    Encoding = iota // rows from the top, little-endian, without gaps
	PNG                    // a PNG file
	Zstd                   // one Zstandard frame of the filtered raw bytes
	Places                 // positions of objects as JSON instead of a picture
)

// The values of the headers nameEncoding and nameFilter. The first value is the default.
var (
	encodings = []string{Raw: "raw", PNG: "png", Zstd: "zstd", Places: "places"}
	filters   = []string{NoFilter: "none", Planes: "planes", Up: "up"}
)

// Header describes a message's frame and the message's part in it. All messages of a frame have equal headers except for Chunk.
type Header struct {
	Session    string    // identifies one start of the publisher; Seq increases within a session
	Seq        uint64    // counts the camera's frames, including lost ones
	Time       time.Time // of acquisition
	Trajectory uint64    // number of the uninterrupted path to which the frame belongs

	Width, Height int
	Channels      int // 1, or 3: red, green, blue
	Depth         tiff.Depth
	Encoding      Encoding
	Filter        Filter // for Zstd; otherwise NoFilter

	Chunk, Chunks int // index of this message in the frame, from 0, and number of messages
}

// size returns the bytes of the frame's raw pixels.
func (h *Header) size() int { return h.Width * h.Height * h.Channels * h.Depth.Bytes() }

// room bounds the total bytes of a frame's messages. It allows for a compressor that enlarges incompressible data slightly.
func (h *Header) room() int {
	switch h.Encoding {
	case Raw:
		return h.size()
	case Places:
		return maxPlaces
	}
	return h.size() + h.size()/8 + 64<<10
}

// check applies the bounds of parse to the header of a frame to be published.
func (h *Header) check() error {
	switch {
	case h.Session == "" || len(h.Session) > maxSession:
		return fmt.Errorf("the session name has %d bytes, expected 1 to %d: shorten it", len(h.Session), maxSession)
	case h.Channels != 1 && h.Channels != 3 || h.Depth < 0 || int(h.Depth) >= len(pixelTypes):
		return fmt.Errorf("the picture has %d channels of depth %d, 1 or 3 channels of uint8, uint16 or float32 expected: convert it", h.Channels, h.Depth)
	case h.Width < 1 || h.Height < 1 || h.Width > maxSide || h.Height > maxSide:
		return fmt.Errorf("the picture has %dx%d pixels, 1 to %d per side expected: crop it", h.Width, h.Height, maxSide)
	case h.size() > MaxBytes:
		return fmt.Errorf("the picture has %d bytes, at most %d expected: crop it or bin it", h.size(), MaxBytes)
	case h.Filter != NoFilter && h.Encoding != Zstd:
		return fmt.Errorf("filter %s was given for encoding %s, which has no filters: leave %s out", filters[h.Filter], encodings[h.Encoding], nameFilter)
	case h.Filter == Up && h.Depth == tiff.Float32:
		return fmt.Errorf("filter %s was given for %s, whose differences are not exact: use %s", filters[Up], pixelTypes[h.Depth], filters[Planes])
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

// parse reads and checks the headers of a message. It ignores headers with other names.
func parse(headers map[string][]string) (Header, error) {
	p := parser{headers: headers}
	encoding, pixels := Encoding(p.word(nameEncoding, encodings, encodings[Raw])), ""
	if encoding == Places {
		pixels = pixelTypes[tiff.Uint8] // positions have no pixel type
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

// text returns the only value of a header, or other if the header is missing. If other is empty, the header is required.
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

// word returns the index of the header's value in words.
func (p *parser) word(name string, words []string, other string) int {
	text := p.text(name, other)
	i := slices.Index(words, text)
	if i < 0 {
		p.fail(name, text, "one of "+strings.Join(words, ", "))
	}
	return max(i, 0)
}

// headerRoom is the number of bytes reserved in every message for its headers, which count towards the server's limit.
const headerRoom = 1 << 10

// Split passes a frame's bytes to send in as many messages as needed. limit bounds the headers and data of a message together; it is 1 MiB on a default server.
// The arguments of send are valid during the call. The first error of send ends the frame. Split ignores Chunk and Chunks of h.
func Split(h Header, data []byte, limit int, send func(headers map[string][]string, data []byte) error) error {
	if err := h.check(); err != nil {
		return err
	}
	each := limit - headerRoom
	if each < 1 {
		return fmt.Errorf("messages may have only %d bytes, more than %d expected: raise the server's max_payload", limit, headerRoom)
	}
	if h.Chunks = max(1, (len(data)+each-1)/each); h.Chunks > MaxChunks {
		return fmt.Errorf("a frame of %d bytes in messages of %d bytes needs more than %d messages: raise the server's max_payload", len(data), limit, MaxChunks)
	}
	if len(data) > h.room() || len(data) != h.size() && h.Encoding == Raw {
		return errors.New("the frame's number of bytes differs from its header: correct the publisher")
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
