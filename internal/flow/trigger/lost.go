package trigger

import "driftscope/internal/flow/latent"

// newLost makes a rule about the loss of the object. The alarms unlike_training and bleached must be requested: a single frame may differ from the training,
// and a picture at half its light still shows the object.
func newLost(decode func(any) error, _ Env) (*Rule, error) {
	return newAlarmed(decode, []string{latent.ObjectLost, latent.Bleached, latent.UnlikeTraining}, []string{latent.ObjectLost})
}
