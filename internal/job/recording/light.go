//go:build cgo

package recording

import (
	"driftscope/infer/card"
	"driftscope/internal/flow/frame"
	"driftscope/preprocess"
	"driftscope/preprocess/illumination"
)

// film holds thumbnails for the estimate of the lamp: some frames of one trajectory, evenly over all of them.
type film struct {
	small      *illumination.Thumbnail
	thumbnails [][]float32
	stride     int // between frames that are kept
	seen       int
	trajectory uint64
	unclear    bool // several trajectories, each with a background of its own, or too few pixels
}

// maxThumbnails is when every other one is given up.
const maxThumbnails = 256

// add keeps a thumbnail where it is the turn of one.
func (l *film) add(f *frame.Frame, g *GreyFrame) {
	if l.seen == 0 {
		var err error
		l.small, err = illumination.NewThumbnail(g.Height, g.Width, 1)
		l.unclear, l.stride, l.trajectory = err != nil, 1, f.Meta.Trajectory
	}
	l.unclear = l.unclear || f.Meta.Trajectory != l.trajectory
	l.seen++
	if l.unclear || (l.seen-1)%l.stride != 0 {
		return
	}
	if len(l.thumbnails) == maxThumbnails {
		for i := range maxThumbnails / 2 {
			l.thumbnails[i] = l.thumbnails[2*i]
		}
		l.thumbnails, l.stride = l.thumbnails[:maxThumbnails/2], 2*l.stride
	}
	one := make([]float32, illumination.Size)
	l.small.Of(one, g.Pixels)
	l.thumbnails = append(l.thumbnails, one)
}

// fewThumbnails is where a film is too short to tell its lamp from what moves.
const fewThumbnails = 20

// Illumination returns how the recording's light changes, its model nil if it is steady, or where that is not to be told. step takes it off.
func (s *Survey) Illumination() (light illumination.Choice, step card.Step) {
	if s.film.unclear || len(s.film.thumbnails) < fewThumbnails {
		return light, step
	}
	if light = illumination.Choose(s.film.thumbnails); light.Model != nil {
		step = card.Step{Kind: "illumination", Options: preprocess.IlluminationOptions(light.Model)}
	}
	return light, step
}
