package sim

import (
	"image"
	"math/rand/v2"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// glyphSide and glyphSize are those of MNIST: a digit 20 px high in the middle of 28x28.
const (
	glyphSide = 28
	glyphSize = 27 // px an em: digits of the Go font are 0.73 em high
)

// glyphs returns two different digits of the Go font.
func glyphs(rng *rand.Rand) (ink [2][]float64, err error) {
	parsed, err := opentype.Parse(gobold.TTF)
	if err != nil {
		return ink, err
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: glyphSize, DPI: 72})
	if err != nil {
		return ink, err
	}
	for i, digit := range rng.Perm(10)[:len(ink)] {
		ink[i] = glyph(face, string(rune('0'+digit)))
	}
	return ink, face.Close()
}

// glyph draws a text with its bounds in the middle of the picture.
func glyph(face font.Face, text string) []float64 {
	canvas := image.NewAlpha(image.Rect(0, 0, glyphSide, glyphSide))
	bounds, _ := font.BoundString(face, text)
	pen := font.Drawer{Dst: canvas, Src: image.Opaque, Face: face, Dot: fixed.Point26_6{
		X: (fixed.I(glyphSide) - bounds.Min.X - bounds.Max.X) / 2,
		Y: (fixed.I(glyphSide) - bounds.Min.Y - bounds.Max.Y) / 2,
	}}
	pen.DrawString(text)
	return shrink(canvas.Pix, glyphSide, glyphSide, digitSide, 255)
}
