package sdevae

import (
	"errors"
	"fmt"

	"driftscope/infer/card"
	"driftscope/infer/sdevae/network"
	"driftscope/infer/sdevae/onnx"
	"driftscope/infer/sdevae/video"
)

// suitedTo checks that the clip and the config suit the model, and completes the config from it: one run without frozen steps, its
// dimension, its clock and, unless the config sets one, its posterior. A clock or covariances that the model lacks start from zero.
func suitedTo(o *onnx.Origin, clip *video.Clip, c Config) (Config, error) {
	in := o.Card.Input
	if in != (card.Input{Channels: clip.Channels, Height: clip.Height, Width: clip.Width}) {
		return c, fmt.Errorf("the clip's frames are %dx%dx%d, the model to continue takes %dx%dx%d: prepare them with its own steps",
			clip.Channels, clip.Height, clip.Width, in.Channels, in.Height, in.Width)
	}
	if c.Latent == 0 {
		c.Latent = o.Card.Latent
	}
	if c.Latent != o.Card.Latent {
		return c, fmt.Errorf("%d latents are wanted, the model to continue has %d: leave the number out", c.Latent, o.Card.Latent)
	}
	if o.HasCovariances() && c.Posterior == network.Diagonal {
		return c, errors.New("a diagonal posterior is wanted, the model to continue has covariances: leave the posterior out")
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
