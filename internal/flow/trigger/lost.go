package trigger

import "driftscope/internal/flow/latent"

// newLost makes a rule about the object: by default, that it is lost. A single frame may differ from the training, and a picture at half its
// light still shows the object, so those two alarms must be requested.
func newLost(decode func(any) error, _ Env) (*Rule, error) {
	return newAlarmed(decode, []string{latent.ObjectLost, latent.Bleached, latent.UnlikeTraining}, []string{latent.ObjectLost})
}
