package field

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"driftscope/internal/flow/frame"
	"driftscope/internal/flow/latent"
	"driftscope/internal/flow/pipeline"
)

// TestPlaces: positions in µm are converted to px, positions beyond the maximum are counted, and a message without a scale or with too large a field is
// refused.
func TestPlaces(t *testing.T) {
	of := func(p frame.Places) (latent.Spots, error) {
		f := frame.New(5, time.Unix(1, 0), frame.Meta{Places: &p}, frame.NewMat())
		defer f.Close()
		seen := latent.Sight{Spots: latent.Spots{Found: make([]latent.Spot, 9), ID: make([]uint64, 9)}}
		err := NewPlaces(2, 0.25, 0).Encode(t.Context(), &seen, f)
		return seen.Spots, err
	}
	spot := func(x, y, variance float64) latent.Spot {
		return latent.Spot{X: x, Y: y, VarX: variance, VarY: variance, Score: certain}
	}
	for name, c := range map[string]struct {
		given frame.Places
		want  latent.Spots
	}{
		"px":        {frame.Places{X: []float64{1, 2}, Y: []float64{3, 4}, SD: []float64{0.5, 2}}, latent.Spots{Found: []latent.Spot{spot(1, 3, 0.25), spot(2, 4, 4)}, ID: []uint64{}}},
		"µm":        {frame.Places{Micrometres: true, X: []float64{1}, Y: []float64{3}, SD: []float64{0.5}}, latent.Spots{Found: []latent.Spot{spot(4, 12, 4)}, ID: []uint64{}}},
		"three ids": {frame.Places{ID: []uint64{7, 3, 9}, X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}}, latent.Spots{Found: []latent.Spot{spot(1, 1, 0), spot(2, 2, 0)}, ID: []uint64{7, 3}, Left: 1}},
		"none":      {frame.Places{}, latent.Spots{Found: []latent.Spot{}, ID: []uint64{}}},
	} {
		c.given.Width, c.given.Height = 64, 48
		c.want.Width, c.want.Height, c.want.Template = 64, 48, 1
		if got, err := of(c.given); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: found %+v, %v; expected %+v", name, got, err, c.want)
		}
	}
	var skip *pipeline.ErrSkip
	if _, err := of(frame.Places{Width: 16384, Height: 16384}); !errors.As(err, &skip) || skip.Cause != "bad_message" || !errors.Is(err, frame.ErrTooLarge) {
		t.Errorf("a field of 268 million pixels: %v", err)
	}
	f := frame.New(5, time.Unix(1, 0), frame.Meta{Places: &frame.Places{Width: 64, Height: 48, Micrometres: true}}, frame.NewMat())
	defer f.Close()
	if err := NewPlaces(2, 0, 0).Encode(t.Context(), &latent.Sight{}, f); !errors.As(err, &skip) || skip.Cause != "bad_message" || !strings.Contains(err.Error(), "--pixel-um") {
		t.Errorf("µm without a scale: %v", err)
	}
}
