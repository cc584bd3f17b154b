package trigger

import "driftscope/internal/flow/latent"

// newLost makes a rule about the object: that it is lost, unless told otherwise. A single frame may be unlike the training, and a picture at
// half its light still shows what it shows, so those two are for who asks for them.
func newLost(decode func(any) error, _ Env) (*Rule, error) {
	return newAlarmed(decode, []string{latent.ObjectLost, latent.Bleached, latent.UnlikeTraining}, []string{latent.ObjectLost})
}
