package sim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// assetFolders returns the possible folders of assets: the given folder, or the named folder in it.
func assetFolders(assets, name string) []string { return []string{assets, filepath.Join(assets, name)} }

// checkAssets returns an error if assets is not a folder.
func checkAssets(assets string) error {
	info, err := os.Stat(assets)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("assets: %s does not exist: give a folder with MNIST or COIL-20 pictures", assets)
	}
	if err != nil {
		return fmt.Errorf("assets: %w: give a folder that can be read", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("assets: %s is not a folder: give the folder that contains this file", assets)
	}
	return nil
}

// shrink scales width x height grey values 0 .. top to n x n values in [0, 1]. Each new pixel is the mean of the old pixels over its area. width and height
// must be at least n.
func shrink[T uint8 | uint16](grey []T, width, height, n int, top float64) []float64 {
	across, down := overlaps(width, n), overlaps(height, n)
	small := make([]float64, n*n)
	for j, rows := range down {
		for i, columns := range across {
			for _, row := range rows {
				for _, column := range columns {
					small[j*n+i] += row.share * column.share * float64(grey[row.pixel*width+column.pixel]) / top
				}
			}
		}
	}
	return small
}

// overlap is the fraction of a new pixel that an old one covers.
type overlap struct {
	pixel int
	share float64
}

// overlaps divides a line of from pixels into n equal new pixels.
func overlaps(from, n int) [][]overlap {
	cut := make([][]overlap, n)
	width := float64(from) / float64(n)
	for i := range cut {
		begin, end := float64(i)*width, float64(i+1)*width
		for pixel := int(begin); pixel < from && float64(pixel) < end; pixel++ {
			share := (min(end, float64(pixel+1)) - max(begin, float64(pixel))) / width
			cut[i] = append(cut[i], overlap{pixel, share})
		}
	}
	return cut
}

// Bounds on an IDX file. MNIST has at most 60,000 pictures of 28x28.
const (
	maxIDXPictures = 100_000
	minIDXSide     = digitSide
	maxIDXSide     = 64
)

// idxPictures reads grey 8-bit pictures in LeCun's IDX format: four big-endian words, 0x00000803 (unsigned bytes in three
// dimensions), pictures, rows and columns, and then the bytes.
type idxPictures struct {
	r             io.Reader
	count         int
	width, height int
	next          int // index of the next picture in r
}

// newIDXPictures reads the header.
func newIDXPictures(r io.Reader) (*idxPictures, error) {
	var header [4]uint32
	if err := binary.Read(r, binary.BigEndian, &header); err != nil {
		return nil, fmt.Errorf("the file has no IDX header of 16 bytes (%w): give MNIST's own file of pictures", err)
	}
	magic, count, rows, columns := header[0], header[1], header[2], header[3]
	if magic != 0x803 {
		return nil, fmt.Errorf("the file begins with %#08x, 0x00000803 expected for an IDX file of pictures: give MNIST's own file", magic)
	}
	if count < 2 || count > maxIDXPictures {
		return nil, fmt.Errorf("the file's header announces %d pictures, expected 2 to %d: give MNIST's own file", count, maxIDXPictures)
	}
	if min(rows, columns) < minIDXSide || max(rows, columns) > maxIDXSide {
		return nil, fmt.Errorf("the file's header announces pictures of %dx%d, expected sides of %d to %d: give MNIST's own file", columns, rows, minIDXSide, maxIDXSide)
	}
	return &idxPictures{r: r, count: int(count), width: int(columns), height: int(rows)}, nil
}

// picture returns picture i. Call it with increasing i.
func (p *idxPictures) picture(i int) ([]uint8, error) {
	size := p.width * p.height
	if _, err := io.CopyN(io.Discard, p.r, int64(i-p.next)*int64(size)); err != nil {
		return nil, fmt.Errorf("the file ends before picture %d of %d (%w): download it again", i, p.count, err)
	}
	grey := make([]uint8, size)
	if _, err := io.ReadFull(p.r, grey); err != nil {
		return nil, fmt.Errorf("the file ends within picture %d of %d (%w): download it again", i, p.count, err)
	}
	p.next = i + 1
	return grey, nil
}
