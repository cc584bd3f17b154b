package camera

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds on the bytes between two pictures and on one picture.
const (
	maxPart    = 64 << 20
	maxBetween = 64 << 10
)

// isMultipart reports whether a content type announces a sequence of pictures. It accepts the invalid types that some cameras send.
func isMultipart(kind string) bool {
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(kind)), "multipart/")
}

// parts reads the pictures of a multipart response (RFC 2046). It ignores boundaries, because cameras differ in them. A part begins with header lines, at least
// one of them Content-, and an empty line. It ends after Content-Length bytes, or at the end of its JPEG.
type parts struct {
	from *bufio.Reader
}

// part is a picture and its header values.
type part struct {
	jpeg  []byte
	stamp float64 // seconds since 1970 from X-Timestamp; negative if absent
}

// next returns the next part. A picture without its end is an error.
func (p *parts) next() (part, error) {
	length, stamp, err := p.lines()
	if err != nil {
		return part{}, err
	}
	out := part{stamp: stamp}
	switch {
	case length > maxPart:
		return part{}, fmt.Errorf("a picture has %d bytes, at most %d expected", length, maxPart)
	case length >= 0:
		out.jpeg = make([]byte, length)
		_, err = io.ReadFull(p.from, out.jpeg)
	default:
		out.jpeg, err = p.jpeg()
	}
	return out, err
}

// lines reads header lines up to the empty line.
func (p *parts) lines() (length int, stamp float64, err error) {
	length, stamp = -1, -1
	described := false
	for read := 0; read < maxBetween; {
		line, err := p.from.ReadSlice('\n')
		read += len(line)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, 0, err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), ":")
		value = strings.TrimSpace(value)
		switch name := strings.ToLower(name); {
		case name == "" && described:
			return length, stamp, nil
		case name == "content-length":
			if n, err := strconv.Atoi(value); err == nil && n >= 0 {
				length = n
			}
			described = true
		case name == "x-timestamp":
			if v, err := strconv.ParseFloat(value, 64); err == nil && v > 0 && v < 1e10 {
				stamp = v
			}
		case strings.HasPrefix(name, "content-"):
			described = true
		}
	}
	return 0, 0, fmt.Errorf("the first %d bytes contain no picture, parts with Content-Type: image/jpeg expected", maxBetween)
}

// jpeg reads one picture to its end marker (ITU-T T.81, B.1.1). It skips the end marker of an embedded thumbnail.
func (p *parts) jpeg() ([]byte, error) {
	var file bytes.Buffer
	take := func(n int) error {
		if file.Len()+n > maxPart {
			return fmt.Errorf("a picture of more than %d bytes", maxPart)
		}
		_, err := io.CopyN(&file, p.from, int64(n))
		return err
	}
	for {
		marker, err := p.marker(&file)
		if err != nil {
			return nil, err
		}
		switch {
		case marker == 0xd9:
			return file.Bytes(), nil
		case marker <= 0x01 || 0xd0 <= marker && marker <= 0xd8: // no segment
			continue
		}
		if err := take(2); err != nil {
			return nil, err
		}
		length := file.Bytes()[file.Len()-2:]
		if err := take(max(int(length[0])<<8+int(length[1])-2, 0)); err != nil {
			return nil, err
		}
	}
}

// marker copies bytes up to and including the next marker and returns the marker.
func (p *parts) marker(to *bytes.Buffer) (byte, error) {
	for before := byte(0); ; {
		b, err := p.from.ReadByte()
		if err != nil {
			return 0, err
		}
		if to.Len() >= maxPart {
			return 0, fmt.Errorf("a picture of more than %d bytes", maxPart)
		}
		to.WriteByte(b)
		if before == 0xff && b != 0xff {
			return b, nil
		}
		before = b
	}
}
