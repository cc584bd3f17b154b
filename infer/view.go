//go:build cgo

package infer

import (
	"bytes"
	"image"
	"image/jpeg"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// jpegQuality keeps a 64x64 picture under 3 kB. wholeQuality keeps an overview of pure noise under 50 kB.
const (
	jpegQuality  = 90
	wholeQuality = 75
)

// preview is the scratch memory of View.
type preview struct {
	paper *image.RGBA
	jpeg  bytes.Buffer
}

// View writes to dst the encoder's input f, the decoder's picture of z, and the overview from which f was cut. The decoder's picture is empty if the model has
// no decoder, and the overview is empty if no preprocessing step set it. View reuses dst's memory.
func (e *Encoder) View(dst *latent.View, f *frame.Frame, z *latent.Latent) error {
	if err := e.load(f); err != nil {
		return err
	}
	dst.Seq, dst.Time = f.Seq, f.Time
	dst.Reconstruction = dst.Reconstruction[:0]
	if err := e.survey(dst, f.Meta.Overview); err != nil {
		return err
	}
	var err error
	if dst.Preview, err = e.print(dst.Preview, e.picture); err != nil || e.decoder == nil {
		return err
	}
	if err := e.decode(z.Mean); err != nil {
		return err
	}
	dst.Reconstruction, err = e.print(dst.Reconstruction, e.decoder.buffers.outputs[0])
	return err
}

// survey writes the position of the encoder's input in the whole picture, and the overview.
func (e *Encoder) survey(dst *latent.View, o *frame.Overview) error {
	dst.Region, dst.Whole = nil, dst.Whole[:0]
	if o == nil || o.Region.Empty() {
		return nil
	}
	at, size := o.Region.Min, o.Region.Size()
	dst.Region = &latent.Region{X: at.X, Y: at.Y, Width: size.X, Height: size.Y, WholeWidth: o.Whole.X, WholeHeight: o.Whole.Y}
	if o.Picture == nil {
		return nil
	}
	var err error
	dst.Whole, err = e.preview.encode(dst.Whole, o.Picture, wholeQuality)
	return err
}

// print encodes values (channels × height × width in [0,1]) as JPEG, into dst's memory.
func (e *Encoder) print(dst []byte, values []float32) ([]byte, error) {
	in, p := e.model.Card.Input, &e.preview
	if p.paper == nil {
		p.paper = image.NewRGBA(image.Rect(0, 0, in.Width, in.Height))
	}
	plane := in.Width * in.Height
	for i := range plane {
		for c := range 3 {
			p.paper.Pix[4*i+c] = grey(values[min(c, in.Channels-1)*plane+i])
		}
		p.paper.Pix[4*i+3] = 255
	}
	return p.encode(dst, p.paper, jpegQuality)
}

// encode encodes a picture as JPEG, into dst's memory.
func (p *preview) encode(dst []byte, picture image.Image, quality int) ([]byte, error) {
	p.jpeg.Reset()
	err := jpeg.Encode(&p.jpeg, picture, &jpeg.Options{Quality: quality})
	return append(dst[:0], p.jpeg.Bytes()...), err
}

// grey maps [0,1] to 0..255. NaN is black.
func grey(v float32) uint8 {
	if !(v > 0) {
		return 0
	}
	return uint8(min(v, 1)*255 + 0.5)
}
