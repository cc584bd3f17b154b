package training

import (
	"testing"

	"driftscope/internal/kit/console"
	"driftscope/internal/suite"
)

// The training of a shipped model is continued by the same name as in run.
func TestContinueShipped(t *testing.T) {
	suite.Long(t)
	f, err := (&Options{From: "embedded:molecule"}).origin()
	if err != nil {
		t.Fatal(err)
	}
	if f.Card.Latent != 2 || f.Decoder == nil {
		t.Errorf("found %+v, expected two latents and a decoder", f.Card)
	}
	if _, err := (&Options{From: "embedded:molecule", Latent: "3"}).origin(); err == nil || console.Status(err) != 2 {
		t.Errorf("three latents: %v, a usage error expected", err)
	}
}
