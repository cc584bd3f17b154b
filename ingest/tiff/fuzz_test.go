package tiff

import (
	"bytes"
	"encoding/binary"
	"io"
	"testing"
)

// seeds returns files of every supported kind.
func seeds(t testing.TB) (files [][]byte) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, big := range []bool{false, true} {
			for _, compression := range []uint64{uncompressed, lzwCoded, deflated, packBits} {
				strips := grey16(1)
				strips.compression, strips.rows, strips.description = compression, 4, "ImageJ=1\nimages=2\n"
				tiles := recipe{width: 5, height: 5, samples: 4, bits: 8, format: formatUint, photometric: rgb,
					compression: compression, tile: 16, separate: true, value: masked(8)}
				files = append(files, build(t, order, big, strips))
				files = append(files, build(t, order, big, strips, tiles))
			}
			floats := recipe{width: 4, height: 3, samples: 1, bits: 32, format: formatFloat, photometric: blackIsZero,
				compression: deflated, predictor: predictorFloat, value: negative}
			bits := recipe{width: 9, height: 3, samples: 1, bits: 1, format: formatUint, photometric: palette,
				compression: uncompressed, colours: make([]uint64, 6), value: masked(1)}
			floats.description = `<OME><Pixels SizeC="2" SizeZ="3" TimeIncrement="4" TimeIncrementUnit="ms"/></OME>`
			files = append(files, build(t, order, big, floats, bits))
		}
	}
	return files
}

// FuzzOpen: for any bytes, every page gives pixels of the announced shape or an error, and the file ends.
func FuzzOpen(f *testing.F) {
	for _, file := range seeds(f) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		tiff, err := Open(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			return
		}
		if s := tiff.Series(); s.Channels < 1 || s.Slices < 1 || !(s.Interval >= 0) {
			t.Fatalf("%+v", s)
		}
		var img Image
		for n := 0; ; n++ {
			err := tiff.Next(&img)
			if err == io.EOF {
				return
			}
			if n > tiff.Pages()+1 {
				t.Fatalf("%d answers from a file of %d pages", n, tiff.Pages())
			}
			if err != nil {
				continue
			}
			if err := img.check(); err != nil {
				t.Fatal(err)
			}
			if n == 16 {
				return // many pages of one large strip are slow, not wrong
			}
		}
	})
}

// FuzzFollow: for any bytes, and any number of them at the start, a followed file ends after Finish and gives only pages of the announced shape.
func FuzzFollow(f *testing.F) {
	for i, file := range seeds(f) {
		f.Add(file, uint16(97*i%len(file)))
	}
	f.Fuzz(func(t *testing.T, file []byte, there uint16) {
		size := min(int64(there), int64(len(file)))
		tiff := Follow(bytes.NewReader(file), func() (int64, error) { return size, nil })
		var img Image
		finished := false
		for n := 0; n < 32; n++ { // many pages of one large strip are slow, not wrong
			switch err := tiff.Next(&img); {
			case err == io.EOF && finished:
				return
			case err == io.EOF:
				t.Fatal("the end of a file that grows")
			case err == ErrPending && finished:
				t.Fatal("a page is pending in a file that grows no more")
			case err == ErrPending && size < int64(len(file)):
				size = int64(len(file))
			case err == ErrPending:
				finished = true
				tiff.Finish()
			case err == nil:
				if err := img.check(); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
