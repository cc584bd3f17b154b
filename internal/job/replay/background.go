package replay

import (
	"bytes"
	"image"
	"image/jpeg"

	"driftscope/internal/flow/latent"
)

// The longest side, px, and the grey level of the background that replaces missing pictures. Light and dark marks are visible on this grey.
const (
	emptySide = 768
	emptyGrey = 40
)

// background returns a uniform picture with the proportions of size.
func background(size extent) (*latent.View, error) {
	block := (max(size.width, size.height) + emptySide - 1) / emptySide
	paper := image.NewGray(image.Rect(0, 0, max(size.width/block, 1), max(size.height/block, 1)))
	for i := range paper.Pix {
		paper.Pix[i] = emptyGrey
	}
	var b bytes.Buffer
	err := jpeg.Encode(&b, paper, nil)
	return &latent.View{Preview: b.Bytes()}, err
}
