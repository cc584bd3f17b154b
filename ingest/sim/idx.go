package sim

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Bounds of an IDX file; MNIST has 60,000 pictures at most, of 28x28.
const (
	maxIDXPictures = 100_000
	minIDXSide     = digitSide
	maxIDXSide     = 64
)

// idxPictures reads a file of grey 8-bit pictures in LeCun's IDX format: four big-endian words, 0x00000803 (unsigned bytes in
// three dimensions), pictures, rows and columns, and then the bytes.
type idxPictures struct {
	r             io.Reader
	count         int
	width, height int
	next          int // the picture that r stands before
}

// newIDXPictures reads the header.
func newIDXPictures(r io.Reader) (*idxPictures, error) {
	var header [4]uint32
	if err := binary.Read(r, binary.BigEndian, &header); err != nil {
		return nil, fmt.Errorf("no IDX header of 16 bytes (%w): give MNIST's own file of pictures", err)
	}
	magic, count, rows, columns := header[0], header[1], header[2], header[3]
	if magic != 0x803 {
		return nil, fmt.Errorf("begins with %#08x, an IDX file of pictures with 0x00000803: give MNIST's own", magic)
	}
	if count < 2 || count > maxIDXPictures {
		return nil, fmt.Errorf("announces %d pictures, expected 2 to %d: give MNIST's own file", count, maxIDXPictures)
	}
	if min(rows, columns) < minIDXSide || max(rows, columns) > maxIDXSide {
		return nil, fmt.Errorf("announces pictures of %dx%d, expected sides of %d to %d: give MNIST's own file", columns, rows, minIDXSide, maxIDXSide)
	}
	return &idxPictures{r: r, count: int(count), width: int(columns), height: int(rows)}, nil
}

// picture returns picture i, which must not come before one that was read already.
func (p *idxPictures) picture(i int) ([]uint8, error) {
	size := p.width * p.height
	if _, err := io.CopyN(io.Discard, p.r, int64(i-p.next)*int64(size)); err != nil {
		return nil, fmt.Errorf("ends before picture %d of %d (%w): fetch the file again", i, p.count, err)
	}
	grey := make([]uint8, size)
	if _, err := io.ReadFull(p.r, grey); err != nil {
		return nil, fmt.Errorf("ends within picture %d of %d (%w): fetch the file again", i, p.count, err)
	}
	p.next = i + 1
	return grey, nil
}
