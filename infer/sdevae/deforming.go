package sdevae

import (
	"context"
	"slices"

	"driftscope/infer/sdevae/video"
)

// deform returns the single sprite with modes of its changing light, or nil if the light does not change or the change does not persist from frame to frame.
// Each latent beyond the position gets one mode. The explained share counts all modes, the residual only the modes that are latents.
func (j *job) deform(ctx context.Context, rigid *tracked, latents int) *tracked { // case locate.deforming: a single sprite whose light changes from frame to frame
	held := video.FramesOf(j.held)
	d := rigid.sprites.Deform(ctx, j.clip, video.FramesOf(j.train), held)
	if d == nil {
		return nil
	}
	t := &tracked{sprites: d.Sprite, deforming: d}
	t.places, t.scores = d.Track(j.clip, j.clip.Frames())
	if t.explained = j.share(d.Left(j.clip, held, d.Modes())); t.settle(j.clip) == nil {
		return nil
	}
	shown := min(latents-2, d.Modes())
	t.left = d.Left(j.clip, held, shown)
	if shown == 0 {
		return t
	}
	var all []float64
	for f, scores := range slices.Collect(slices.Chunk(t.scores, d.Modes())) {
		all = append(append(all, t.places[2*f:2*f+2]...), scores[:shown]...)
	}
	if !t.standardise(all, 2+shown) {
		return nil
	}
	return t
}
