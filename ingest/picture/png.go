package picture

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
)

// fewPacked is the largest number of bytes of image data that libpng receives unchecked. They unpack to at most 2 GiB, which takes 5 s.
const fewPacked = 2 << 20

// imageData reads the contents of a PNG's IDAT chunks.
type imageData struct {
	data []byte // remaining chunks
	body []byte // rest of the current chunk
}

// Read reads the contents of the IDAT chunks in order.
func (d *imageData) Read(p []byte) (int, error) {
	for len(d.body) == 0 {
		if len(d.data) < 12 {
			return 0, io.EOF
		}
		length, kind := int64(binary.BigEndian.Uint32(d.data)), string(d.data[4:8])
		body := d.data[8:]
		end := min(length, int64(len(body)))
		if kind == "IDAT" {
			d.body = body[:end]
		}
		d.data = body[min(end+4, int64(len(body))):]
	}
	n := copy(p, d.body)
	d.body = d.body[n:]
	return n, nil
}

// size returns the total length of the IDAT contents.
func (d imageData) size() (n int) {
	for {
		d.body = nil
		if _, err := d.Read(make([]byte, 0)); err != nil {
			return n
		}
		n += len(d.body)
	}
}

// checkPNG rejects a PNG whose image data unpack to far more than the given number of bytes, because libpng would unpack everything before it reports the
// error.
func checkPNG(data []byte, pixels int) error {
	packed := imageData{data: data[min(8, len(data)):]}
	if packed.size() <= fewPacked {
		return nil
	}
	r, err := zlib.NewReader(&packed)
	if err != nil {
		return nil // libpng reports the error
	}
	defer r.Close()
	most := 2*int64(pixels) + 64<<10 // an interlaced row of one pixel has an extra byte
	if n, _ := io.CopyN(io.Discard, r, most+1); n > most {
		return fmt.Errorf("the image data unpacks to more than %d bytes, but its pixels have only %d: the file is damaged, copy it again", most, pixels)
	}
	return nil
}
