//go:build cgo

package recording

import (
	"driftscope/infer/card"
	"driftscope/internal/flow/frame"
	"driftscope/preprocess"
	"driftscope/preprocess/illumination"
)

// film holds thumbnails of evenly spaced frames of one trajectory, to estimate the lamp's changes.
type film struct {
	small      *illumination.Thumbnail
	thumbnails [][]float32
	stride     int // interval between stored frames
	seen       int
	trajectory uint64
	unclear    bool // no estimate: several trajectories, each with its own background, or too few pixels
}

// maxThumbnails is the largest number of thumbnails. At this number every other one is dropped.
const maxThumbnails = 256

// add stores a thumbnail of a frame if one is due.
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

// fewThumbnails is the least number of thumbnails that can separate the lamp's changes from motion.
const fewThumbnails = 20

// Illumination returns how the recording's light changes, and the step that removes the change. The model is nil if the light is steady or unknown.
func (s *Survey) Illumination() (light illumination.Choice, step card.Step) {
	if s.film.unclear || len(s.film.thumbnails) < fewThumbnails {
		return light, step
	}
	if light = illumination.Choose(s.film.thumbnails); light.Model != nil {
		step = card.Step{Kind: "illumination", Options: preprocess.IlluminationOptions(light.Model)}
	}
	return light, step
}
