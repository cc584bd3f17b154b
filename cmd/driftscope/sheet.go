//go:build cgo

package main

import (
	"bytes"
	"image"
	"image/png"
	"math"

	"driftscope/infer/card"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// The pictures of a sheet, and the pictures per row.
const (
	sheetPictures = 24
	sheetColumns  = 8
)

// sheet shows frames spread evenly over a film, including the first and the last, in rows in reading order. The zero value is
// empty.
type sheet struct {
	img   *image.RGBA
	shown int
}

// add puts frame k of n on the sheet if it is one of the shown frames. Pixels are stored channel by channel, in [0, 1].
func (s *sheet) add(k, n int, pixels []float32, in card.Input) {
	count := min(n, sheetPictures)
	if s.img == nil {
		columns, rows := min(count, sheetColumns), (count+sheetColumns-1)/sheetColumns
		s.img = image.NewRGBA(image.Rect(0, 0, columns*(in.Width+1)-1, rows*(in.Height+1)-1))
	}
	if k != s.shown*(n-1)/max(count-1, 1) {
		return
	}
	at := image.Pt(s.shown%sheetColumns*(in.Width+1), s.shown/sheetColumns*(in.Height+1))
	recording.Planar{Pixels: pixels, Channels: in.Channels, Width: in.Width}.Paint(s.img, at, func(v float32) uint8 {
		return uint8(math.Round(255 * float64(min(max(v, 0), 1))))
	})
	s.shown++
}

func (s *sheet) write(path string) error {
	var b bytes.Buffer
	if err := png.Encode(&b, s.img); err != nil {
		return err
	}
	return console.WriteFile(path, b.Bytes())
}
