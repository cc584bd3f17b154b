package sdevae

import (
	"bytes"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestFollowBeside: a disc that hides a grating, whose light comes and goes, is followed, and the light is the third latent: an affine map
// of the latents is where the disc is, to 1.2 px after a training of seconds, and the light to a third of its standard deviation.
func TestFollowBeside(t *testing.T) {
	clip, places, _, lights := crossing(260, 9, disc, 1)
	truth := mat.NewDense(clip.Len(), 3, nil)
	for k := range lights {
		truth.SetRow(k, append(slices.Clone(places[2*k:2*k+2]), lights[k]))
	}
	c := Config{Latent: 3, Seed: 1, Tau: TauOf(clip), Steps: 30, Pairs: 16, Restarts: 1, Follow: 150}
	r := train(t, Training{}, clip, c)
	if r.Followed < 0.9 || r.Things != 1 || r.Config.Redraw > 0 || r.Config.Sleep > 0 {
		t.Fatalf("%.3f is followed of %d with %+v", r.Followed, r.Things, r.Config)
	}
	p, err := r.Model.Encode(clip.Pixels, nil, clip.Len())
	if err != nil {
		t.Fatal(err)
	}
	if rms := off(t, wide(p.Mean), truth); max(rms[0], rms[1]) > 1.2 || rms[2] > 0.33 {
		t.Errorf("an affine map of the latents is off by %.2g", rms)
	}
	checkpoint, err := ReadCheckpoint(interrupted(t, Training{}, clip, c, 150))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file(t, train(t, Training{Resume: checkpoint}, clip, c), clip), file(t, r, clip)) {
		t.Error("killed and resumed: another model")
	}
}
