package tiff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"
)

// pixelType is an entry's pixel format.
type pixelType uint32

const (
	eightBits pixelType = iota
	sixteenBits
	ndRGB // 8 bits each
	tenBits
	twelveBits
	fourteenBits
	elevenBits // stored in 16 bits, like all types except 8 bits
)

// Image reads the pixels of e into dst and reuses the memory of dst. r is the file that e names.
func (e *NDEntry) Image(dst *Image, r io.ReaderAt) (err error) {
	dst.Width, dst.Height, dst.Channels, dst.Depth = e.Width, e.Height, 1, Uint16
	switch e.kind {
	case eightBits:
		dst.Depth = Uint8
	case ndRGB:
		dst.Depth, dst.Channels = Uint8, 3
	}
	dst.Pix, err = e.bytes(dst.Pix, r, e.offset, e.Width*e.Height*e.kind.bytes(), "pixels")
	return err
}

// bytes reads n bytes into dst and reuses its memory. It allocates nothing if the file is too short.
func (e *NDEntry) bytes(dst []byte, r io.ReaderAt, at int64, n int, what string) ([]byte, error) {
	var last [1]byte
	_, err := r.ReadAt(last[:], at+int64(n)-1)
	if err == nil {
		if cap(dst) < n {
			dst = make([]byte, n)
		}
		dst = dst[:n]
		_, err = r.ReadAt(dst, at)
	}
	if err == io.EOF {
		err = fmt.Errorf("%w: %d bytes of %s at byte %d of %s lie beyond the end of the file: copy it again", ErrTornFolder, n, what, at, e.File)
	}
	return dst, err
}

// NDTimes holds an image's times from its metadata, in seconds; NaN if unknown.
type NDTimes struct {
	Received float64 // arrival in the computer, since 1970 on the microscope's clock
	Elapsed  float64 // time since the start of the acquisition, in whole milliseconds
}

// Times reads the times of e. r is the file that e names.
func (e *NDEntry) Times(r io.ReaderAt) (NDTimes, error) {
	times := NDTimes{Received: math.NaN(), Elapsed: math.NaN()}
	raw, err := e.bytes(nil, r, e.metadata, e.metadataBytes, "metadata")
	if err != nil {
		return times, err
	}
	var metadata struct {
		Received string      `json:"TimeReceivedByCore"`
		Elapsed  json.Number `json:"ElapsedTime-ms"`
	}
	if err := json.Unmarshal(bytes.TrimRight(raw, "\x00"), &metadata); err != nil {
		return times, fmt.Errorf("metadata at byte %d of %s: %w: give dt or fps, or copy the recording again", e.metadata, e.File, err)
	}
	if t, err := time.Parse("2006-01-02 15:04:05.999999", metadata.Received); err == nil {
		times.Received = float64(t.UnixMicro()) / 1e6
	}
	if ms, err := metadata.Elapsed.Float64(); err == nil {
		times.Elapsed = ms / 1e3
	}
	return times, nil
}
