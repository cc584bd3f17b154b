package field

import (
	"bytes"
	"image"
	"image/jpeg"
	"slices"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
)

// Parameters of the Viewer's pictures. Sides have at most viewSide pixels. The displayed levels lie between two quantiles of a sample of the pixels.
const (
	viewSide    = 768
	viewQuality = 80
	viewSample  = 4096
	darkest     = 0.005
	brightest   = 0.998
)

// Viewer converts whole frames for display. It belongs to one goroutine outside the frame path.
type Viewer struct {
	paper  *image.Gray
	sample []float32
	jpeg   bytes.Buffer
}

// NewViewer returns a Viewer.
func NewViewer() *Viewer { return &Viewer{} }

// View writes the frame to dst as JPEG. If the frame is too large, View averages blocks of pixels. It reuses dst's memory.
func (v *Viewer) View(dst *latent.View, f *frame.Frame, _ *latent.Latent) error {
	pixels, h, w, err := values(f)
	if err != nil {
		return err
	}
	low, scale := v.levels(pixels)
	block := (max(h, w) + viewSide - 1) / viewSide
	size := image.Rect(0, 0, w/block, h/block)
	if v.paper == nil || v.paper.Rect != size {
		v.paper = image.NewGray(size)
	}
	for y := range size.Max.Y {
		for x := range size.Max.X {
			var sum float32
			for j := range block {
				for _, p := range pixels[(y*block+j)*w+x*block:][:block] {
					sum += p
				}
			}
			v.paper.Pix[y*v.paper.Stride+x] = uint8(min(max((sum/float32(block*block)-low)*scale, 0), 255))
		}
	}
	dst.Seq, dst.Time, dst.Region = f.Seq, f.Time, nil
	dst.Reconstruction, dst.Whole = dst.Reconstruction[:0], dst.Whole[:0]
	v.jpeg.Reset()
	err = jpeg.Encode(&v.jpeg, v.paper, &jpeg.Options{Quality: viewQuality})
	dst.Preview = append(dst.Preview[:0], v.jpeg.Bytes()...)
	return err
}

// levels returns the darkest displayed level, and the factor that maps the brightest to 255.
func (v *Viewer) levels(pixels []float32) (low, scale float32) {
	v.sample = v.sample[:0]
	for i := 0; i < len(pixels); i += max(1, len(pixels)/viewSample) {
		v.sample = append(v.sample, pixels[i])
	}
	slices.Sort(v.sample)
	at := func(q float64) float32 { return v.sample[int(q*float64(len(v.sample)-1))] }
	low = at(darkest)
	if span := at(brightest) - low; span > 0 {
		scale = 255 / span
	}
	return low, scale
}

// Close does nothing.
func (v *Viewer) Close() error { return nil }
