package rtsp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/bluenviron/gortsplib/v5/pkg/format/rtpmjpeg"
	"github.com/pion/rtp"
)

// jpegUnit builds a JPEG file from a picture's packets (RFC 2435). The library handles only packets without restart headers and with their tables. jpegUnit
// converts other packets to this form. Then it completes the library's file, which lacks the restart interval and sizes above 2040 pixels.
type jpegUnit struct {
	told   size            // picture size from the session description; zero if absent
	tables map[byte][]byte // tables by the packets' value Q; later pictures may omit them

	decoder rtpmjpeg.Decoder
	restart uint16 // interval of restart markers; 0 for none
}

// Constants of a packet's JPEG header and of the quantization table header.
const (
	jpegHeader   = 8
	tablesHeader = 4
	maxTables    = tablesHeader + 2*64
	withRestart  = 64  // added to the type
	withTables   = 128 // smallest Q with tables in the packets
	alwaysTables = 255 // Q with tables in every picture
)

// reset starts another picture.
func (u *jpegUnit) reset() {
	u.decoder, u.restart = rtpmjpeg.Decoder{}, 0
	u.decoder.Init() // Init cannot fail here
}

// add takes a packet. It returns the file with the last packet, and rtpmjpeg.ErrMorePacketsNeeded before it.
func (u *jpegUnit) add(p *rtp.Packet) ([]byte, error) {
	payload, err := u.plain(p.Payload)
	if err != nil {
		return nil, err
	}
	file, err := u.decoder.Decode(&rtp.Packet{Header: rtp.Header{Marker: p.Marker}, Payload: payload})
	if err != nil {
		return nil, err
	}
	return u.complete(file)
}

// plain returns a payload without the restart header and with the tables of its picture.
func (u *jpegUnit) plain(payload []byte) ([]byte, error) {
	if len(payload) < jpegHeader {
		return nil, fmt.Errorf("a packet of %d bytes", len(payload))
	}
	head, rest := slices.Clone(payload[:jpegHeader]), payload[jpegHeader:]
	first, q := head[1]|head[2]|head[3] == 0, head[5]
	if head[4]&^withRestart > 1 { // 0 is 4:2:2, 1 is 4:2:0
		return nil, fmt.Errorf("pictures of RTP type %d are not supported", head[4])
	}
	if head[4] >= withRestart {
		if len(rest) < 4 {
			return nil, fmt.Errorf("a packet of %d bytes", len(payload))
		}
		head[4] -= withRestart
		u.restart, rest = binary.BigEndian.Uint16(rest), rest[4:]
	}
	if first && q >= withTables {
		tables, n, err := u.tablesOf(q, rest)
		if err != nil {
			return nil, err
		}
		head, rest = append(head, tables...), rest[n:]
	}
	return append(head, rest...), nil
}

// tablesOf returns the tables of the picture at the start of data; n is their length in data.
func (u *jpegUnit) tablesOf(q byte, data []byte) (tables []byte, n int, err error) {
	if len(data) < tablesHeader {
		return nil, 0, errors.New("quantization tables are cut off")
	}
	n = tablesHeader + int(binary.BigEndian.Uint16(data[2:]))
	if n > maxTables || n > len(data) {
		return nil, 0, fmt.Errorf("quantization tables of %d bytes", n-tablesHeader)
	}
	if n > tablesHeader {
		if q != alwaysTables {
			if u.tables == nil {
				u.tables = map[byte][]byte{}
			}
			u.tables[q] = slices.Clone(data[:n])
		}
		return data[:n], n, nil
	}
	if u.tables[q] == nil {
		return nil, 0, fmt.Errorf("the quantization tables for Q %d have not arrived yet", q)
	}
	return u.tables[q], n, nil
}

// complete writes the size and the restart interval into a file.
func (u *jpegUnit) complete(file []byte) ([]byte, error) {
	const startOfFrame, restartInterval = 0xc0, 0xdd
	at := 2 // after the first marker; every segment has a marker and a length
	for at+9 <= len(file) && file[at+1] != startOfFrame {
		at += 2 + int(binary.BigEndian.Uint16(file[at+2:]))
	}
	if at+9 > len(file) {
		return nil, errors.New("a JPEG file without a frame")
	}
	height, width := file[at+5:at+7], file[at+7:at+9]
	if err := fill(height, u.told.height); err != nil {
		return nil, err
	}
	if err := fill(width, u.told.width); err != nil {
		return nil, err
	}
	if u.restart > 0 {
		file = slices.Insert(file, at, 0xff, restartInterval, 0, 4, byte(u.restart>>8), byte(u.restart))
	}
	return file, nil
}

// fill sets a side to the session's value if the packets give none. In a packet a side is one byte, in units of 8 pixels and rounded up; it is 0 if the side is
// too large.
func fill(side []byte, told int) error {
	eighths := byte(binary.BigEndian.Uint16(side) / 8)
	if told > 0 && (eighths == 0 || eighths == byte((told+7)/8)) {
		binary.BigEndian.PutUint16(side, uint16(told))
	} else if eighths == 0 {
		return errors.New("the camera does not give the size of its pictures, which have more than 2040 pixels on a side: choose a smaller size, or H.264")
	}
	return nil
}
