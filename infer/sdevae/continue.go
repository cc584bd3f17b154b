package sdevae

import (
	"errors"
	"fmt"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/onnx"
	"driftscope/infer/sdevae/video"
)

// suitedTo checks that the clip and the config suit the model to continue, and completes the config: one run without frozen steps, with the model's dimension,
// clock and, unless the config sets one, posterior. If the config adds a clock or covariances, their weights start from zero.
func suitedTo(o *onnx.Origin, clip *video.Clip, c Config) (Config, error) {
	in := o.Card.Input
	if in != (card.Input{Channels: clip.Channels, Height: clip.Height, Width: clip.Width}) {
		return c, fmt.Errorf("the clip's frames are %dx%dx%d, but the model to continue needs %dx%dx%d: prepare the frames with the model's own steps",
			clip.Channels, clip.Height, clip.Width, in.Channels, in.Height, in.Width)
	}
	if c.Latent == 0 {
		c.Latent = o.Card.Latent
	}
	if c.Latent != o.Card.Latent {
		return c, fmt.Errorf("the training needs %d latents, but the model to continue has %d: leave the number out", c.Latent, o.Card.Latent)
	}
	if o.HasCovariances() && c.Posterior == network.Diagonal {
		return c, errors.New("the training needs a diagonal posterior, but the model to continue has covariances: leave the posterior out")
	}
	if o.HasCovariances() {
		c.Posterior = network.Cholesky
	}
	c.Clock = c.Clock || o.Card.Clock > 0
	c.Restarts, c.FreezeSteps, c.ReinitSteps = 1, -1, -1
	return c, nil
}

// fromDigest returns the digest of the model to continue, or nil if there is none.
func (j *job) fromDigest() []byte {
	if j.origin == nil {
		return nil
	}
	return j.origin.Digest
}
