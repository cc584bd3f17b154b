package stream

import (
	"errors"
	"testing"

	"driftscope/internal/config"
	"driftscope/internal/latent"
)

// TestNothingToTryOn: before the first frame there is nothing that a model could be tried on.
func TestNothingToTryOn(t *testing.T) {
	model, err := LoadModel(t.Context(), config.Default(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *latent.Refusal
	if err := new(tracking).try(t.Context(), plan{about: ofModel(model), model: model}, nil); !errors.As(err, &refusal) || refusal.Code != latent.NotNow {
		t.Errorf("before the first frame: %v", err)
	}
}
