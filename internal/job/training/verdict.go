package training

import (
	"fmt"
	"strings"

	"driftscope/infer/sdevae/verdict"
	"driftscope/infer/sdevae/video"
	"driftscope/internal/job/recording"
	"driftscope/internal/kit/console"
)

// measured returns the centroid (x, y) of the clip's single object in each frame, px of the prepared pictures, or nil if there is no such object.
func (c *Options) measured(clip *video.Clip) []float64 {
	if c.Objects {
		return nil
	}
	out := make([]float64, 0, 2*clip.Len())
	for from := 0; from < clip.Len(); {
		var film [][]float32
		for i := from; i < clip.Len() && clip.Trajectory[i] == clip.Trajectory[from]; i++ {
			film = append(film, grey(clip, i))
		}
		places, err := recording.Track(film, clip.Width, clip.Height)
		if err != nil { // no signal above the noise in some frame
			return nil
		}
		for _, p := range places {
			out = append(out, p.X, p.Y)
		}
		from += len(film)
	}
	return out
}

// grey returns the mean over a frame's channels.
func grey(clip *video.Clip, i int) []float32 {
	frame, area := clip.Frame(i), clip.Height*clip.Width
	if clip.Channels == 1 {
		return frame
	}
	out := make([]float32, area)
	for k, v := range frame {
		out[k%area] += v / float32(clip.Channels)
	}
	return out
}

// worthless refuses a model that tracks nothing.
func worthless(v *verdict.Verdict) error {
	if !v.Nothing {
		return nil
	}
	return fmt.Errorf("no model is written: %s", strings.Join(v.Reasons(), "; "))
}

// tell prints a verdict and its evidence, the worst first.
func tell(v *verdict.Verdict) {
	console.Say("verdict: %s", v.Level)
	for _, f := range v.Findings {
		switch line := f.Line(); f.Level {
		case verdict.Good:
			console.Say("  %s", line)
		default:
			console.Warn("%s: %s", f.Level, line)
		}
	}
}
