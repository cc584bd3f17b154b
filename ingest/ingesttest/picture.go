package ingesttest

import (
	"bytes"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"testing"
)

// The number of blocks per side of a picture, and of pixels per side of a block.
const (
	Width, Height = 160, 96
	block         = 16
	dark, bright  = 40, 200
)

// CodedPicture returns picture i. Every block is dark or bright at random, so a test detects a part of another picture.
func CodedPicture(i int) []byte {
	grey := make([]byte, Width*Height)
	random := rand.New(rand.NewPCG(uint64(i), 1))
	for y := 0; y < Height; y += block {
		for x := 0; x < Width; x += block {
			v := byte(dark)
			if random.IntN(2) == 1 {
				v = bright
			}
			for p := range block * block {
				grey[(y+p/block)*Width+x+p%block] = v
			}
		}
	}
	return grey
}

// Recognise returns the number of the picture in grey, among the first n pictures, or -1 if grey matches none of them completely. grey begins at the first row;
// step is the bytes per pixel.
func Recognise(grey []byte, step, n int) int {
	for i := range n {
		if same(grey, step, CodedPicture(i)) {
			return i
		}
	}
	return -1
}

// same reports whether grey is the picture want. It tolerates coding noise: a codec changes a block's mean by a few levels, and a different block differs by
// 160.
func same(grey []byte, step int, want []byte) bool {
	for y := 0; y < Height; y += block {
		for x := 0; x < Width; x += block {
			sum := 0
			for p := range block * block {
				sum += int(grey[((y+p/block)*Width+x+p%block)*step])
			}
			if mean := sum / (block * block); mean < luma(want[y*Width+x])-tolerance || mean > luma(want[y*Width+x])+tolerance {
				return false
			}
		}
	}
	return true
}

const tolerance = 16

// luma returns the decoded value of v: coders map 16..235 to 0..255.
func luma(v byte) int { return (int(v) - 16) * 255 / 219 }

// JPEG returns picture i as a colour JPEG file, as cameras send it.
func JPEG(t testing.TB, i int) []byte {
	t.Helper()
	img := image.NewYCbCr(image.Rect(0, 0, Width, Height), image.YCbCrSubsampleRatio420)
	copy(img.Y, Shown(i))
	for p := range img.Cb {
		img.Cb[p], img.Cr[p] = 128, 128
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// Shown returns picture i as decoded, in grey values 0 to 255.
func Shown(i int) []byte {
	grey := CodedPicture(i)
	for p, v := range grey {
		grey[p] = byte(luma(v))
	}
	return grey
}
